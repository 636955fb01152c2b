{# The counts in the last ledger row of a run that died, for the run that completes it. #}
{% macro read_recorded_counts(target_relation, apply) %}
  {%- set line_names = versioned_collapsing.get_line_count_names() -%}
  {%- set names = versioned_collapsing.get_count_names() -%}
  {%- set query -%}
    select {{ (line_names + names) | join(', ') }}
    from {{ versioned_collapsing.get_ledger_relation(target_relation) }}
    where model = {{ versioned_collapsing.quote_literal(apply.model) }}
      and run_id = {{ versioned_collapsing.quote_literal(apply.run_id) }}
    order by at desc
    limit 1
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set recorded = {'line_counts': {}, 'counts': {}} -%}
  {%- for name in line_names -%}
    {%- do recorded.line_counts.update({name: found[name]}) -%}
  {%- endfor -%}
  {%- for name in names -%}
    {%- do recorded.counts.update({name: found[name] | int}) -%}
  {%- endfor -%}
  {%- do return(recorded) -%}
{% endmacro %}
