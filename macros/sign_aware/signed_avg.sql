{# `avg(expression)` of the live rows, null for a group of which nothing is left: division of a Decimal by 0 throws.
   The average of a nullable expression is over the rows that have a value: `is_nullable`. #}
{% macro signed_avg(expression, sign='_sign', is_nullable=false) -%}
  {%- set rows = versioned_collapsing.signed_count_non_null(expression, sign) if is_nullable
      else versioned_collapsing.signed_count(sign) -%}
  ({{ versioned_collapsing.signed_sum(expression, sign) }} / nullIf({{ rows }}, 0))
{%- endmacro %}


{# `avgIf(expression, condition)` of the live rows. #}
{% macro signed_avg_if(expression, condition, sign='_sign', is_nullable=false) -%}
  {%- set has_value = ' and ' ~ versioned_collapsing._get_operand(expression) ~ ' is not null' -%}
  {%- set counted = versioned_collapsing._get_operand(condition) ~ has_value if is_nullable else condition -%}
  {%- set rows = versioned_collapsing.signed_count_if(counted, sign) -%}
  ({{ versioned_collapsing.signed_sum_if(expression, condition, sign) }} / nullIf({{ rows }}, 0))
{%- endmacro %}
