{# Stages the change set, compares it with what is stored, publishes the difference and records it. Returns
   the counts. #}
{% macro apply_change_set(target, options, columns, sql, run) %}
  {%- do versioned_collapsing.stage_change_set(target, options, columns, sql, run) -%}
  {%- do versioned_collapsing.renew_lock(run) -%}
  {%- do run.update({'read': versioned_collapsing.read_change_set_counts(target, options, columns, sql, run)}) -%}
  {%- if options.on_conflict == 'error' and options.chunks > 1 -%}
    {%- do versioned_collapsing.refuse_conflicts_of_all_chunks(target, options, columns, run) -%}
  {%- endif -%}
  {%- do run.update({'is_journal': versioned_collapsing.uses_journal(target, options, run)}) -%}
  {%- set counts = versioned_collapsing.apply_chunks(
      target, options, columns, run, 1, versioned_collapsing.start_counts(run.read)
  ) -%}
  {%- do return(counts) -%}
{% endmacro %}
