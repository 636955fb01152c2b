{# A rebuilt table takes the place of the old one, but its rows do not pass through the materialized views on the table.
   These views must be rebuilt in the same run, or they would stay wrong. #}
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
  {%- set ours = {} -%}
  {%- for node in graph.nodes.values() -%}
    {%- set is_rebuilt = node.unique_id in selected_resources -%}
    {%- do ours.update({(node.schema, node.alias): is_rebuilt, (node.schema, node.alias ~ '_mv'): is_rebuilt}) -%}
  {%- endfor -%}
  {%- set stale, foreign = [], [] -%}
  {%- for view in run_query(query).rows if not ours.get((view['view_schema'], view['view_name'])) -%}
    {%- do (stale if (view['view_schema'], view['view_name']) in ours else foreign).append(
        view['view_schema'] ~ '.' ~ view['view_name']
    ) -%}
  {%- endfor -%}
  {%- if stale or foreign -%}
    {%- set it = 'it' if foreign | length == 1 else 'them' -%}
    {%- set command = 'dbt run --full-refresh --select '
        ~ (versioned_collapsing.get_change_sets(model) | first | default(model)).name ~ '+' -%}
    {%- do exceptions.raise_compiler_error(
        this ~ " cannot be rebuilt alone. " ~ ("This materialized view reads" if (stale + foreign) | length == 1
        else "These materialized views read") ~ " from it and would keep the sums of the old rows: "
        ~ (stale + foreign) | join(', ') ~ ". "
        ~ ("Rebuild everything together: " ~ command if not foreign
        else "dbt does not build " ~ foreign | join(', ') ~ ". Drop " ~ it ~ ", run `" ~ command ~ "`, then create "
        ~ it ~ " and fill " ~ it ~ " again.")
    ) -%}
  {%- endif -%}
{% endmacro %}
