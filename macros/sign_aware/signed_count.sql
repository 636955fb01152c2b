{# Count of live rows: `count(*)` of the rows as they are now. #}
{% macro signed_count(sign='_sign') -%}
  sum({{ versioned_collapsing._get_sign_sql(sign) }})
{%- endmacro %}


{# `countIf(condition)` of the live rows. #}
{% macro signed_count_if(condition, sign='_sign') -%}
  sumIf({{ versioned_collapsing._get_sign_sql(sign) }}, {{ condition }})
{%- endmacro %}


{# `count(expression)` of the live rows: those in which it is not null. #}
{% macro signed_count_non_null(expression, sign='_sign') -%}
  {{ versioned_collapsing.signed_count_if(versioned_collapsing._get_operand(expression) ~ ' is not null', sign) }}
{%- endmacro %}
