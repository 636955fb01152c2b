{# Two payloads at one version: the stored one stays, since no version says which is right. #}
{% macro validate_no_conflicts(target_relation, options, counts, apply) %}
  {%- if counts.conflicts -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing._get_conflict_message(target_relation, options, counts)
        ~ " Nothing was written (on_conflict: error)."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro warn_of_conflicts(target_relation, options, counts) %}
  {%- if counts.conflicts -%}
    {%- do exceptions.warn(versioned_collapsing._get_conflict_message(target_relation, options, counts)) -%}
  {%- endif -%}
{% endmacro %}


{% macro _get_conflict_message(target_relation, options, counts) %}
  {%- set names = (options.unique_key + [options.version]) | join(', ') -%}
  {%- set some = (counts.conflict_sample | unique | list)[:3] | join(' ') -%}
  {%- do return(
      target_relation ~ ": " ~ versioned_collapsing.format_count(counts.conflicts, 'change')
      ~ (" has" if counts.conflicts == 1 else " have")
      ~ " the version of a stored row, or of another change, and another payload"
      ~ (" (" ~ names ~ " of some: " ~ some ~ ")" if some else "")
      ~ ". The stored one stays; of two in one change set one is taken."
  ) -%}
{% endmacro %}
