{# A conflict is two different payloads at one version. The version does not tell which one is right. #}
{% macro validate_no_conflicts(target_relation, options, counts, apply) %}
  {%- if counts.conflicts -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing._get_conflict_message(target_relation, options, counts)
        ~ " Nothing was written, because on_conflict is 'error'. Correct the changes, or set on_conflict: warn."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro warn_of_conflicts(target_relation, options, counts) %}
  {%- if counts.conflicts -%}
    {%- do exceptions.warn(
        versioned_collapsing._get_conflict_message(target_relation, options, counts)
        ~ " A stored row stays as it is. Of two such changes in one change set, one is applied. Find out why the "
        ~ "version does not grow with every change."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro _get_conflict_message(target_relation, options, counts) %}
  {%- set names = (options.unique_key + [options.version]) | join(', ') -%}
  {%- set some = (counts.conflict_sample | unique | list)[:3] | join(', ') -%}
  {%- do return(
      target_relation ~ ": " ~ versioned_collapsing.format_count(counts.conflicts, 'change')
      ~ (" has" if counts.conflicts == 1 else " have")
      ~ " the same version as a stored row or another change, but a different payload."
      ~ (" Examples (" ~ names ~ "): " ~ some ~ "." if some else "")
  ) -%}
{% endmacro %}
