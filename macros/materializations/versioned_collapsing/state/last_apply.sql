{# For the `loaded_at_query` of a source: when a model's table was last brought up to date. #}
{% macro get_last_apply_sql(ledger, model_name) -%}
  select max(at) from {{ ledger }} where model = {{ versioned_collapsing.quote_literal(model_name) }}
      and status = 'applied'
{%- endmacro %}
