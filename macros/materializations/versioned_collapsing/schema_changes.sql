{# The columns of the model, brought in line with those of the table: `on_schema_change` says what becomes of
   the ones that only one of them has. Columns that the change set lacks are kept as they are stored. #}
{% macro adapt_to_existing_columns(existing, options, columns) %}
  {%- set changes = versioned_collapsing.compare_columns(existing, options, columns) -%}
  {%- if not (changes.added or changes.absent) -%}
    {%- do return(columns) -%}
  {%- endif -%}
  {%- set table = [] -%}
  {%- for column in columns.table if column.name in changes.stored or options.on_schema_change == 'append_new_columns' -%}
    {%- if column.name in changes.added -%}
      {%- do run_query('alter table ' ~ existing ~ ' ' ~ on_cluster_clause(existing) ~ ' add column ' ~ adapter.quote(column.name) ~ ' ' ~ column.type ~ ' ' ~ versioned_collapsing.get_settings_sql()) -%}
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
        existing ~ ": the new column " ~ name ~ " differs from " ~ known ~ " by its case only, and is another column. If it is "
        ~ "the same one, select it as " ~ known ~ " and drop the new one: alter table " ~ existing ~ " drop column " ~ adapter.quote(name)
    ) -%}
  {%- endfor -%}
{% endmacro %}


{# The types of the stored columns, and which columns only the model or only the table has. #}
{% macro compare_columns(existing, options, columns) %}
  {%- set stored = {} -%}
  {%- for column in versioned_collapsing.get_table_columns(existing) if column.name != options.sign -%}
    {%- do stored.update({column.name: column.type}) -%}
  {%- endfor -%}
  {%- do return({
      'stored': stored,
      'added': columns.names | reject('in', stored) | list,
      'absent': stored | reject('in', columns.names) | list,
  }) -%}
{% endmacro %}


{# Raises one error for all columns that cannot be brought in line. #}
{% macro validate_schema_change(existing, options, columns) %}
  {%- set changes = versioned_collapsing.compare_columns(existing, options, columns) -%}
  {%- set stored, added, absent = changes.stored, changes.added, changes.absent -%}
  {%- set problems = [] -%}
  {%- set advice = " Change the option back, or rebuild the table: " ~ versioned_collapsing.get_rebuild_command(model) -%}
  {%- if (added or absent) and options.on_schema_change == 'fail' -%}
    {%- do problems.append(
        "columns: the model adds " ~ added ~ " and drops " ~ absent ~ ", compared with " ~ existing
        ~ ". Set on_schema_change to append_new_columns or ignore, or rebuild the table: " ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- elif (added or absent) and options.old_state == 'stream' -%}
    {%- do problems.append("columns: with `old_state: stream` the model must have the columns of " ~ existing ~ "; it adds " ~ added ~ " and drops " ~ absent ~ "." ~ advice) -%}
  {%- endif -%}
  {%- for name in added if versioned_collapsing._is_required(name, options) -%}
    {%- do problems.append("columns: " ~ name ~ " is new, and belongs to the key, version, order_by or partition_by." ~ advice) -%}
  {%- endfor -%}
  {%- for column in columns.table if column.name in added -%}
    {%- set policy = options.combine.get(column.name, 'latest') -%}
    {%- if policy != 'latest' and not versioned_collapsing.is_nullable_type(column.type) -%}
      {%- do problems.append(
          "combine: " ~ column.name ~ " is new, has '" ~ policy ~ "' and is " ~ column.type ~ ": in the rows that are there its default "
          ~ "would count as a value. Declare a Nullable data_type, or rebuild the table: "
          ~ versioned_collapsing.get_rebuild_command(model)
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in absent if versioned_collapsing._is_required(name, options) -%}
    {%- do problems.append("columns: the change set lacks " ~ name ~ ", which belongs to the key, version, order_by or partition_by." ~ advice) -%}
  {%- endfor -%}
  {%- for column in columns.table if column.name in stored and stored[column.name] != column.type -%}
    {%- do problems.append("columns: " ~ column.name ~ " is " ~ column.type ~ " in the model and " ~ stored[column.name] ~ " in " ~ existing ~ "." ~ advice) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(existing | string, problems) -%}
{% endmacro %}
