{# The columns of the model, brought in line with those of the table. `on_schema_change` decides about columns that only
   one of the two has. Columns that the change set lacks are kept as they are stored. #}
{% macro get_columns_in_line(stored, options, columns) %}
  {%- set changes = versioned_collapsing.get_column_differences(stored, columns) -%}
  {%- set table = [] -%}
  {%- for column in columns.table if column.name in stored or options.on_schema_change == 'append_new_columns' -%}
    {%- do table.append(column) -%}
  {%- endfor -%}
  {%- for name in changes.absent -%}
    {%- do table.append({'name': name, 'type': stored[name], 'given_type': none}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, table, columns.given)) -%}
{% endmacro %}


{# Adds the columns that the table lacks, to its change feed too. #}
{% macro add_new_columns(existing_relation, stored, columns) %}
  {%- set added = columns.table | rejectattr('name', 'in', stored) | list -%}
  {%- for column in added -%}
    {%- do run_query(
        'alter table ' ~ existing_relation ~ ' ' ~ on_cluster_clause(existing_relation) ~ ' add column if not exists '
        ~ adapter.quote(column.name) ~ ' ' ~ column.type ~ ' ' ~ versioned_collapsing.get_settings_sql()
    ) -%}
    {%- do versioned_collapsing._warn_of_a_name_alike(existing_relation, column.name, stored) -%}
    {%- do log('Added the column ' ~ column.name ~ ' ' ~ column.type ~ ' to ' ~ existing_relation, info=true) -%}
  {%- endfor -%}
  {%- set feed_relation = versioned_collapsing.get_changes_relation(existing_relation) -%}
  {%- set described = versioned_collapsing.read_feed_columns(existing_relation, feed_relation) if added else {} -%}
  {%- if described.feed -%}
    {%- do versioned_collapsing.alter_feed(feed_relation, described, []) -%}
  {%- endif -%}
{% endmacro %}


{# ClickHouse distinguishes `x` from `X`. If a source changes the case of a name, a column is added, and the old one is
   no longer updated. #}
{% macro _warn_of_a_name_alike(existing_relation, name, stored) %}
  {%- for known in stored if known | lower == name | lower -%}
    {%- do exceptions.warn(
        existing_relation ~ ": the new column " ~ name ~ " differs from " ~ known ~ " only in case, so it is a "
        ~ "separate column. If both are the same, select it as " ~ known ~ " and drop the new column: alter table "
        ~ existing_relation ~ " drop column " ~ adapter.quote(name)
    ) -%}
  {%- endfor -%}
{% endmacro %}
