{# The columns of the model, brought in line with those of the table: `on_schema_change` says what becomes of
   the ones that only one of them has. Columns that the change set lacks are kept as they are stored. #}
{% macro adapt_to_existing_columns(existing, options, columns) %}
  {%- set changes = versioned_collapsing.get_column_differences(existing, options, columns) -%}
  {%- if not (changes.added or changes.absent) -%}
    {%- do return(columns) -%}
  {%- endif -%}
  {%- set table = [] -%}
  {%- for column in columns.table if column.name in changes.stored
      or options.on_schema_change == 'append_new_columns' -%}
    {%- if column.name in changes.added -%}
      {%- do run_query(
          'alter table ' ~ existing ~ ' ' ~ on_cluster_clause(existing) ~ ' add column ' ~ adapter.quote(column.name)
          ~ ' ' ~ column.type ~ ' ' ~ versioned_collapsing.get_settings_sql()
      ) -%}
      {%- do versioned_collapsing.warn_of_a_name_alike(existing, column.name, changes.stored) -%}
      {%- do log('Added the column ' ~ column.name ~ ' ' ~ column.type ~ ' to ' ~ existing, info=true) -%}
    {%- endif -%}
    {%- do table.append(column) -%}
  {%- endfor -%}
  {%- for name in changes.absent -%}
    {%- do table.append({'name': name, 'type': changes.stored[name], 'given_type': none}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, table, columns.given)) -%}
{% endmacro %}


{# ClickHouse tells `x` from `X`: a source that writes a name otherwise adds a column, and the old one stands still. #}
{% macro warn_of_a_name_alike(existing, name, stored) %}
  {%- for known in stored if known | lower == name | lower -%}
    {%- do exceptions.warn(
        existing ~ ": the new column " ~ name ~ " differs from " ~ known ~ " by its case only, and is another column. "
        ~ "If it is "
        ~ "the same one, select it as " ~ known ~ " and drop the new one: alter table " ~ existing ~ " drop column "
        ~ adapter.quote(name)
    ) -%}
  {%- endfor -%}
{% endmacro %}
