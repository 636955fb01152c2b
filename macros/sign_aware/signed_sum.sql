{# `sum(expression)` of the live rows. The spelling is fixed, the sign last: an aggregating projection matches its
   query by the expression, and `sum(_sign * x)` is another one.

   Over a join of signed tables, `sign` lists the sign of each: what is summed is multiplied by all of them. #}
{% macro signed_sum(expression, sign='_sign') -%}
  sum({{ versioned_collapsing._get_times_sign_sql(expression, sign) }})
{%- endmacro %}


{# `sumIf(expression, condition)` of the live rows. #}
{% macro signed_sum_if(expression, condition, sign='_sign') -%}
  sumIf({{ versioned_collapsing._get_times_sign_sql(expression, sign) }}, {{ condition }})
{%- endmacro %}


{% macro _get_times_sign_sql(expression, sign) -%}
  {{ versioned_collapsing._get_operand(expression) }} * {{ versioned_collapsing._get_sign_sql(sign) }}
{%- endmacro %}
