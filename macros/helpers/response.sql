{# Stores what dbt prints for the model, and keeps as `adapter_response` in run_results.json. The adapter
   spark_clickhouse keeps `facts` there too. The response of dbt-clickhouse has no place for them. #}
{% macro store_response(message, rows_affected, facts) %}
  {%- if adapter.response_with is defined -%}
    {%- do store_result('main', response=adapter.response_with(message, rows_affected, facts)) -%}
  {%- else -%}
    {%- do store_raw_result('main', message=message, code='OK', rows_affected=rows_affected) -%}
  {%- endif -%}
{% endmacro %}


{# The facts of an apply, as the ledger has them. #}
{% macro get_response_facts(counts, apply) %}
  {%- set facts = {
      'run_id': apply.run_id,
      'status': 'partial' if apply.is_partial else 'applied',
      'batches': apply.batches | map(attribute=0) | list,
  } -%}
  {%- for name in versioned_collapsing.get_count_names() -%}
    {%- do facts.update({name: counts[name] | int}) -%}
  {%- endfor -%}
  {%- do return(facts) -%}
{% endmacro %}
