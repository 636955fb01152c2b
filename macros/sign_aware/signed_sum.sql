{# `sum(expression)` of the live rows. The spelling is fixed, the sign last: an aggregating projection matches its
   query by the expression, and `sum(_sign * x)` is another one. #}
{% macro signed_sum(expression, sign='_sign') -%}
  sum({{ versioned_collapsing._times_sign(expression, sign) }})
{%- endmacro %}


{# `sumIf(expression, condition)` of the live rows. #}
{% macro signed_sum_if(expression, condition, sign='_sign') -%}
  sumIf({{ versioned_collapsing._times_sign(expression, sign) }}, {{ condition }})
{%- endmacro %}


{# A name or a call of a function stands by itself; what else is there may bind less than `*` does. #}
{% macro _times_sign(expression, sign) -%}
  {%- set is_simple = modules.re.fullmatch('[\\w.`"]+(\\([^()]*\\))?', expression | string | trim) -%}
  {{ expression if is_simple else '(' ~ expression ~ ')' }} * {{ sign }}
{%- endmacro %}
