{# Keeps the groups that have live rows. The others stay with sums of 0 until their pairs are merged. #}
{% macro having_live(sign='_sign') -%}
  having {{ versioned_collapsing.signed_count(sign) }} <> 0
{%- endmacro %}
