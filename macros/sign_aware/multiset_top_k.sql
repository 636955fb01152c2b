{# The `k` most frequent values of the live rows, as `topK` estimates them, exactly: an array, of equally frequent ones
   the lower first. Each value must have one row in a group, so the counts are by the columns of the query's groups and
   the value, and by nothing else. #}
{% macro multiset_top_k(value, k, count='live_rows') -%}
  {%- set is_live = versioned_collapsing._get_is_live_sql(count) -%}
  {%- set has_value = versioned_collapsing._get_operand(value) ~ ' is not null' -%}
  {%- set ranked = '(-' ~ versioned_collapsing._get_identifier(count) ~ ', ' ~ value ~ ')' -%}
  tupleElement(groupArraySortedIf({{ k }})({{ ranked }}, {{ is_live }} and {{ has_value }}), 2)
{%- endmacro %}
