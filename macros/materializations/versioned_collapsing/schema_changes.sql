{# The columns of the model, brought in line with those of the table: `on_schema_change` says what becomes of
   the ones that only one of them has. Columns that the change set lacks are kept as they are stored. #}
{% macro adapt_to_existing_columns(existing, options, columns) %}
  {%- set stored = {} -%}
  {%- for column in adapter.get_columns_in_relation(existing) if column.name != options.sign -%}
    {%- do stored.update({column.name: column.data_type}) -%}
  {%- endfor -%}
  {%- set added = columns.names | reject('in', stored) | list -%}
  {%- set absent = stored | reject('in', columns.names) | list -%}
  {%- do versioned_collapsing.raise_problems(existing | string, versioned_collapsing.validate_schema_change(existing, options, columns, stored, added, absent)) -%}
  {%- if options.old_state == 'stream' or not (added or absent) -%}
    {%- do return(columns) -%}
  {%- endif -%}
  {%- set table = [] -%}
  {%- for column in columns.table if column.name in stored or options.on_schema_change == 'append_new_columns' -%}
    {%- if column.name not in stored -%}
      {%- do run_query('alter table ' ~ existing ~ ' ' ~ on_cluster_clause(existing) ~ ' add column ' ~ adapter.quote(column.name) ~ ' ' ~ column.type) -%}
      {%- do log('Added the column ' ~ column.name ~ ' ' ~ column.type ~ ' to ' ~ existing, info=true) -%}
    {%- endif -%}
    {%- do table.append(column) -%}
  {%- endfor -%}
  {%- for name in absent -%}
    {%- do table.append({'name': name, 'type': stored[name], 'given_type': none}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, table, columns.given)) -%}
{% endmacro %}


{% macro validate_schema_change(existing, options, columns, stored, added, absent) %}
  {%- set problems = [] -%}
  {%- set advice = " Change the option back, or rebuild the table: dbt run --full-refresh --select " ~ existing.identifier -%}
  {%- if (added or absent) and options.on_schema_change == 'fail' -%}
    {%- do problems.append(
        "columns: the model adds " ~ added ~ " and drops " ~ absent ~ ", compared with " ~ existing
        ~ ". Set on_schema_change to append_new_columns or ignore, or rebuild the table: dbt run --full-refresh --select " ~ existing.identifier
    ) -%}
  {%- elif (added or absent) and options.old_state == 'stream' -%}
    {%- do problems.append("columns: with `old_state: stream` the model must have the columns of " ~ existing ~ "; it adds " ~ added ~ " and drops " ~ absent ~ "." ~ advice) -%}
  {%- endif -%}
  {%- for name in added if versioned_collapsing._is_required(name, options) -%}
    {%- do problems.append("columns: " ~ name ~ " is new, and belongs to the key, version, order_by or partition_by." ~ advice) -%}
  {%- endfor -%}
  {%- for column in columns.table if column.name in stored and versioned_collapsing._normalized(stored[column.name]) != versioned_collapsing._normalized(column.type) -%}
    {%- do problems.append("columns: " ~ column.name ~ " is " ~ column.type ~ " in the model and " ~ stored[column.name] ~ " in " ~ existing ~ "." ~ advice) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
