{# The problems with columns that cannot be brought in line. #}
{% macro get_schema_change_problems(existing_relation, stored, options, columns, model) %}
  {%- set changes = versioned_collapsing.get_column_differences(stored, columns) -%}
  {%- set added, absent = changes.added, changes.absent -%}
  {%- set names = columns.names + absent -%}
  {%- set problems = [] -%}
  {%- set advice = " Undo the change, or rebuild the table: " ~ versioned_collapsing.get_rebuild_command(model) -%}
  {%- set what_changes = (["adds " ~ added | join(', ')] if added else [])
      + (["drops " ~ absent | join(', ')] if absent else []) -%}
  {%- if (added or absent) and options.on_schema_change == 'fail' -%}
    {%- do problems.append(
        "columns: compared with " ~ existing_relation ~ ", the model " ~ what_changes | join(" and ")
        ~ ". Set on_schema_change to append_new_columns or ignore, or rebuild the table: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- elif (added or absent) and options.old_state == 'stream' -%}
    {%- do problems.append(
        "columns: with `old_state: stream` the model must have the columns of " ~ existing_relation ~ ", but it "
        ~ what_changes | join(" and ") ~ "." ~ advice
    ) -%}
  {%- endif -%}
  {%- for name in added if versioned_collapsing.is_required_column(name, options, names) -%}
    {%- do problems.append(
        "columns: " ~ name ~ " is new and belongs to unique_key, version, order_by or partition_by, which cannot "
        ~ "change in an existing table." ~ advice
    ) -%}
  {%- endfor -%}
  {%- for column in columns.table if column.name in added -%}
    {%- set policy = options.combine.get(column.name, 'latest') -%}
    {%- if policy != 'latest' and not versioned_collapsing.is_nullable_type(column.type) -%}
      {%- do problems.append(
          "combine: " ~ column.name ~ " is new, has the policy '" ~ policy ~ "' and is " ~ column.type
          ~ ", which is not Nullable. In stored rows its default would count as a value. Declare a Nullable data_type, "
          ~ "or rebuild the table: "
          ~ versioned_collapsing.get_rebuild_command(model)
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in absent if versioned_collapsing.is_required_column(name, options, names) -%}
    {%- do problems.append(
        "columns: the change set lacks " ~ name ~ ", which belongs to unique_key, version, order_by or partition_by."
        ~ advice
    ) -%}
  {%- endfor -%}
  {%- for column in columns.table if column.name in stored and stored[column.name] != column.type -%}
    {%- set is_wider_version = column.name == options.version
        and versioned_collapsing.is_wider_integer(stored[column.name], column.type) -%}
    {%- do problems.append(
        "columns: " ~ column.name ~ " is " ~ column.type ~ " in the model and " ~ stored[column.name] ~ " in "
        ~ existing_relation ~ "."
        ~ (" To keep the rows and give the table the wider type: dbt run-operation widen_version --args '{model: "
           ~ model.name ~ "}'." if is_wider_version else '')
        ~ advice
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
