{# A conflict is two different payloads at one version. The version does not tell which one is right. #}
{% macro validate_no_conflicts(target_relation, options, counts, apply) %}
  {%- if counts.conflicts -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing._get_conflict_message(target_relation, options, counts)
        ~ " Nothing was written, because on_conflict is 'error'. Correct the changes, or set on_conflict: warn."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# In the first build of a table, more conflicts than keys say that the key or the version is not what the model takes
   for it. Most of the rows would be dropped. #}
{% macro validate_key_and_version(target_relation, options, counts, apply) %}
  {%- if apply.is_first and counts.conflicts > counts['keys'] -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing._get_conflict_message(target_relation, options, counts) ~ " There are only "
        ~ versioned_collapsing.format_count(counts['keys'], 'key') ~ ". Nothing was written. Either unique_key ("
        ~ options.unique_key | join(', ') ~ ") does not identify a row, or version (" ~ options.version
        ~ ") does not grow with its changes. Correct the option."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Batches were taken again, and bring values for columns that the table did not have when it applied them. A row is
   not replaced at its version, so these values would be missing for ever. #}
{% macro validate_nothing_to_fill(target_relation, counts, apply) %}
  {%- set names = counts.columns_to_fill | unique | join(', ') -%}
  {%- do versioned_collapsing.stop_run(apply,
      target_relation ~ " lacks values of " ~ names ~ " that batches have which it applied before. No row is replaced "
      ~ "at its version. Nothing was written. To fill the columns, rebuild the table: " ~ apply.rebuild_command
      ~ ". Or take these batches no second time."
  ) -%}
{% endmacro %}


{% macro warn_of_conflicts(target_relation, options, counts) %}
  {%- if counts.conflicts -%}
    {%- do exceptions.warn(
        versioned_collapsing._get_conflict_message(target_relation, options, counts)
        ~ " A stored row stays as it is. Of two such changes in one change set, one is applied. "
        ~ ("The stored rows lack " ~ counts.columns_to_fill | unique | join(', ') ~ ". To fill new columns, rebuild "
        ~ "the table with --full-refresh." if counts.columns_to_fill
        else "Find out why the version does not grow with every change.")
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro _get_conflict_message(target_relation, options, counts) %}
  {%- set names = (options.unique_key + [options.version]) | join(', ') -%}
  {%- set some = (counts.conflict_sample | unique | list)[:3] | join(', ') -%}
  {%- do return(
      target_relation | string | replace('__dbt_build`', '`') ~ ": "
      ~ versioned_collapsing.format_count(counts.conflicts, 'change')
      ~ (" has" if counts.conflicts == 1 else " have")
      ~ " the same version as a stored row or another change, but a different payload."
      ~ (" Examples (" ~ names ~ "): " ~ some ~ "." if some else "")
  ) -%}
{% endmacro %}
