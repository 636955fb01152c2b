{# Two payloads at one version: the stored one stays, since no version says which is right. #}
{% macro report_conflicts(target, options, counts, run, chunk) %}
  {%- if counts.conflicts and (options.on_conflict == 'error' or chunk == options.chunks) -%}
    {%- set message -%}
      {{ target }}: {{ versioned_collapsing.format_count(counts.conflicts, 'change') }} {{ 'has'
          if counts.conflicts == 1 else 'have' }} the version of a stored row, or of another change, and another payload
      {{- versioned_collapsing.get_conflict_sample(options,
          run) }}. The stored one stays; of two in one change set one is taken.
    {%- endset -%}
    {%- if options.on_conflict == 'error' -%}
      {%- do versioned_collapsing.drop_staged(target) -%}
      {%- do versioned_collapsing.stop_run(run, message ~ " Nothing was written (on_conflict: error).") -%}
    {%- endif -%}
    {%- do exceptions.warn(message) -%}
  {%- endif -%}
{% endmacro %}


{% macro get_conflict_sample(options, run) %}
  {%- if run.conflicts -%}
    {%- do return(
        ' (' ~ (options.unique_key + [options.version]) | join(', ') ~ ' of some: '
        ~ (run.conflicts | unique | list)[:3] | join(' ') ~ ')'
    ) -%}
  {%- endif -%}
  {%- do return('') -%}
{% endmacro %}
