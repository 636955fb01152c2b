{# All that is wrong with the arguments, as one error; `columns` is empty while the table is not there. #}
{% macro validate_lake_changes(model, table, key, version, columns, macro_name) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key}) -%}
  {%- if not problems and columns -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(table, columns, key)) -%}
    {%- if version -%}
      {%- do problems.extend(versioned_collapsing.get_version_column_problems(columns, version)) -%}
    {%- endif -%}
  {%- elif not columns and versioned_collapsing.is_building() -%}
    {%- do problems.append(table ~ " does not exist, or Spark cannot read it. Create it before the change set.") -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, macro_name) -%}
{% endmacro %}


{# The numbers of commits belong to one table, so a change set reads only one. #}
{% macro validate_one_lake_table(model, format, parents) %}
  {%- if parents | length != 1 -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        "it reads " ~ parents | join(', ') ~ ". A change set of a lake table reads this table and nothing else. Join "
        ~ "other tables in a model on ClickHouse."
    ], format ~ '_changes') -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_lake_format(model, lake, provider) %}
  {%- set title = {'delta': 'Delta', 'iceberg': 'Iceberg'}[lake.format] -%}
  {%- if provider != lake.format -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        lake.relation ~ (" is a table of the format " ~ provider if provider else " has no format")
        ~ "; the macro takes a table of " ~ title ~ ". Create it with file_format: " ~ lake.format ~ ". Spark needs "
        ~ "the jars and settings of " ~ title ~ ": see the hand-off in the adapter's README."
    ], lake.format ~ '_changes') -%}
  {%- endif -%}
{% endmacro %}


{# How far the targets are is known by the last commit that all of them have applied. If the history of the table has
   neither this commit nor the one after it, nobody knows what has changed since. #}
{% macro validate_lake_history(model, lake, landed, applied) %}
  {%- set last = applied | max if applied else none -%}
  {%- set known = landed.values() | map(attribute='hash') | list + landed.values() | map(attribute='follows') | list -%}
  {%- if applied and applied[last] not in known -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": the history of " ~ lake.relation ~ " has neither commit " ~ last ~ " (" ~ applied[last]
        ~ "), the last that is applied, nor the one after it. Either these commits have expired, or the table was "
        ~ "rolled back or created again. What has changed since is unknown. "
        ~ versioned_collapsing._get_restart_advice(model)
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Iceberg's changelog has no rows of snapshots with delete files. #}
{% macro validate_lake_feed(model, lake, landed, taken) %}
  {%- set merged_on_read = [] -%}
  {%- for batch in taken if landed[batch].deletes -%}
    {%- do merged_on_read.append(landed[batch].hash) -%}
  {%- endfor -%}
  {%- if merged_on_read -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": snapshots of " ~ lake.relation ~ " have delete files (merge-on-read), which Iceberg's "
        ~ "changelog does not read: " ~ merged_on_read[:10] | join(', ') ~ ". Set write.delete.mode, write.update.mode "
        ~ "and write.merge.mode to copy-on-write, and rewrite the data files. "
        ~ versioned_collapsing._get_restart_advice(model)
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro _get_restart_advice(model) %}
  {%- do return(
      "Build both again, from the table as it is now: dbt run --full-refresh --select " ~ model.name ~ "+"
  ) -%}
{% endmacro %}
