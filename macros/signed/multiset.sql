{# The live values of a view of counts, for `from`: each group and value once, with the number of live rows that have
   it. Sums of signs give only counts. The macros `multiset_…` compute everything else from counts by value.

   `columns` are the columns by which the view counts, or some of them. The macro sums the counts again, because a
   SummingMergeTree has several rows of a group until they are merged. A table of signed rows is such a view too: its
   sign is the count. #}
{% macro multiset(relation, columns, count='live_rows') -%}
  (
    select *
    from ({{ versioned_collapsing.signed_sums(relation, columns, [], count, count) }}
    )
    where {{ versioned_collapsing._get_is_live_sql(count) }}
  )
{%- endmacro %}


{# The count of a value says how many rows have it. It is below 0 if a cancel row came before its state row. #}
{% macro _get_is_live_sql(count) -%}
  {{ versioned_collapsing._get_identifier(count) }} > 0
{%- endmacro %}


{# `uniqExact(value)` of the live rows, from counts by value. #}
{% macro multiset_count_distinct(value, count='live_rows') -%}
  uniqExactIf({{ value }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `min(value)` of the live rows, from counts by value. #}
{% macro multiset_min(value, count='live_rows') -%}
  minIf({{ value }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `max(value)` of the live rows. #}
{% macro multiset_max(value, count='live_rows') -%}
  maxIf({{ value }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `argMin(value, by)` of the live rows: the value of the row in which `by` is lowest, as the earliest. #}
{% macro multiset_min_by(value, by, count='live_rows') -%}
  argMinIf({{ value }}, {{ by }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `argMax(value, by)` of the live rows: the value of the row in which `by` is highest, as the latest. #}
{% macro multiset_max_by(value, by, count='live_rows') -%}
  argMaxIf({{ value }}, {{ by }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `percentile_disc` of SQL over the live rows: the lowest of their values that at least the share `level` of them does
   not exceed. `quantileExact` takes the higher of two where the share ends between them. #}
{% macro multiset_percentile_disc(value, level, count='live_rows') -%}
  quantileExactWeightedIf({{ level }})({{ value }}, {{ versioned_collapsing._get_weight_sql(count) }})
{%- endmacro %}


{# A weight is unsigned, so the condition must leave out what is below 0. #}
{% macro _get_weight_sql(count) -%}
  toUInt64({{ versioned_collapsing._get_identifier(count) }}), {{ versioned_collapsing._get_is_live_sql(count) }}
{%- endmacro %}


{# The median of the live rows: of two in the middle, their mean. #}
{% macro multiset_median(value, count='live_rows') -%}
  {{ versioned_collapsing.multiset_percentile_cont(value, 0.5, count) }}
{%- endmacro %}


{# `percentile_cont` of SQL over the live rows, `quantileExactInclusive` of ClickHouse: it interpolates between two
   values. As a float: a Decimal would keep its scale, and half a cent would be lost. #}
{% macro multiset_percentile_cont(value, level, count='live_rows') -%}
  {%- set weight = versioned_collapsing._get_weight_sql(count) -%}
  quantileExactWeightedInterpolatedIf({{ level }})(toFloat64({{ value }}), {{ weight }})
{%- endmacro %}


{# The `k` most frequent values of the live rows, as `topK` estimates them, exactly: an array, of equally frequent ones
   the lower first. Each value must have one row in a group, so the counts are by the columns of the query's groups and
   the value, and by nothing else. #}
{% macro multiset_top_k(value, k, count='live_rows') -%}
  {%- set is_live = versioned_collapsing._get_is_live_sql(count) -%}
  {%- set has_value = versioned_collapsing._get_operand(value) ~ ' is not null' -%}
  {%- set ranked = '(-' ~ versioned_collapsing._get_identifier(count) ~ ', ' ~ value ~ ')' -%}
  tupleElement(groupArraySortedIf({{ k }})({{ ranked }}, {{ is_live }} and {{ has_value }}), 2)
{%- endmacro %}
