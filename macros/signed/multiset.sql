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

{# `argMin(value, by)` of the live rows: the value of the row in which `by` is lowest, such as the earliest row. #}
{% macro multiset_min_by(value, by, count='live_rows') -%}
  argMinIf({{ value }}, {{ by }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}

{# `argMax(value, by)` of the live rows: the value of the row in which `by` is highest, such as the latest row. #}
{% macro multiset_max_by(value, by, count='live_rows') -%}
  argMaxIf({{ value }}, {{ by }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}

{# SQL's `percentile_disc` over the live rows: the lowest value v such that at least a share `level` of them is at most
   v. `quantileExact` takes the higher of two values if the share ends exactly between them. #}
{% macro multiset_percentile_disc(value, level, count='live_rows') -%}
  quantileExactWeightedIf({{ level }})({{ value }}, {{ versioned_collapsing._get_weight_sql(count) }})
{%- endmacro %}

{# A weight is unsigned, so the condition must exclude counts below 0. #}
{% macro _get_weight_sql(count) -%}
  toUInt64({{ versioned_collapsing._get_identifier(count) }}), {{ versioned_collapsing._get_is_live_sql(count) }}
{%- endmacro %}

{# The median of the live rows: the mean of the two values in the middle if their number is even. #}
{% macro multiset_median(value, count='live_rows') -%}
  {{ versioned_collapsing.multiset_percentile_cont(value, 0.5, count) }}
{%- endmacro %}

{# SQL's `percentile_cont` over the live rows, ClickHouse's `quantileExactInclusive`: it interpolates between two
   values. The result is a float: a Decimal would keep its scale and lose half a cent. #}
{% macro multiset_percentile_cont(value, level, count='live_rows') -%}
  {%- set weight = versioned_collapsing._get_weight_sql(count) -%}
  quantileExactWeightedInterpolatedIf({{ level }})(toFloat64({{ value }}), {{ weight }})
{%- endmacro %}

{# The `k` most frequent values of the live rows, as an array: exact, where `topK` estimates. Among equally frequent
   values, the lower come first. Each value must have one row per group, so the counts must be by the groups of the
   query and the value, and by nothing else. #}
{% macro multiset_top_k(value, k, count='live_rows') -%}
  {%- set is_live = versioned_collapsing._get_is_live_sql(count) -%}
  {%- set has_value = versioned_collapsing._get_operand(value) ~ ' is not null' -%}
  {%- set ranked = '(-' ~ versioned_collapsing._get_identifier(count) ~ ', ' ~ value ~ ')' -%}
  tupleElement(groupArraySortedIf({{ k }})({{ ranked }}, {{ is_live }} and {{ has_value }}), 2)
{%- endmacro %}
