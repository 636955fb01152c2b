{# `percentile_disc` of SQL over the live rows: the lowest of their values that at least the share `level` of them does
   not exceed. `quantileExact` takes the higher of two where the share ends between them. #}
{% macro multiset_percentile_disc(value, level, count='live_rows') -%}
  quantileExactWeightedIf({{ level }})({{ value }}, {{ versioned_collapsing._get_weight_sql(count) }})
{%- endmacro %}


{# `percentile_cont` of SQL over the live rows, `quantileExactInclusive` of ClickHouse: it interpolates between two
   values. As a float: a Decimal would keep its scale, and half a cent would be lost. #}
{% macro multiset_percentile_cont(value, level, count='live_rows') -%}
  {%- set weight = versioned_collapsing._get_weight_sql(count) -%}
  quantileExactWeightedInterpolatedIf({{ level }})(toFloat64({{ value }}), {{ weight }})
{%- endmacro %}


{# The median of the live rows: of two in the middle, their mean. #}
{% macro multiset_median(value, count='live_rows') -%}
  {{ versioned_collapsing.multiset_percentile_cont(value, 0.5, count) }}
{%- endmacro %}


{# A weight is unsigned, so the condition must leave out what is below 0. #}
{% macro _get_weight_sql(count) -%}
  toUInt64({{ versioned_collapsing._get_identifier(count) }}), {{ versioned_collapsing._get_is_live_sql(count) }}
{%- endmacro %}
