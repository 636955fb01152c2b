{# A rebuilt table takes the old one's place without its rows passing through the materialized views
   that hang on it: they must be rebuilt in the same run, or they would stay wrong. #}
{% macro validate_rebuild(this, existing_relation, is_rebuild, model) %}
  {%- if existing_relation is none -%}{%- do return(none) -%}{%- endif -%}
  {%- if existing_relation.type != 'table' -%}
    {%- do exceptions.raise_compiler_error(
        existing_relation ~ " is a " ~ existing_relation.type ~ ", and a table cannot replace it. Drop it or rename "
        ~ "it, then run again."
    ) -%}
  {%- endif -%}
  {%- if not is_rebuild -%}{%- do return(none) -%}{%- endif -%}
  {%- set query -%}
    select view.1 as view_schema, view.2 as view_name
    from system.tables
    array join arrayZip(dependencies_database, dependencies_table) as view
    where {{ versioned_collapsing.get_is_table_sql(this) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set rebuilt = [] -%}
  {%- for node in graph.nodes.values() if node.unique_id in selected_resources -%}
    {%- do rebuilt.extend([(node.schema, node.alias), (node.schema, node.alias ~ '_mv')]) -%}
  {%- endfor -%}
  {%- set stale = [] -%}
  {%- for view in run_query(query).rows if (view['view_schema'], view['view_name']) not in rebuilt -%}
    {%- do stale.append(view['view_schema'] ~ '.' ~ view['view_name']) -%}
  {%- endfor -%}
  {%- if stale -%}
    {%- do exceptions.raise_compiler_error(
        this ~ " cannot be rebuilt alone. " ~ ("This materialized view reads" if stale | length == 1
        else "These materialized views read") ~ " from it and would keep the sums of the old rows: "
        ~ stale | join(', ') ~ ". Rebuild everything together: dbt run --full-refresh --select "
        ~ (versioned_collapsing.get_change_sets(model) | first | default(model)).name ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}
