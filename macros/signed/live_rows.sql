{# The live rows of a collapsing table, for `from`. `min`, `max`, `uniq` and quantiles need them. If a view counts the
   rows by value, `multiset` reads less.

   FINAL matches pairs within each partition, and a cancel row is in the partition of its state row. `where` filters
   after that, unlike `prewhere`. Skip indexes are used: a cancel row is a copy, so an index that is not on the sorting
   key excludes both rows of a pair or neither. (If cancel rows are not exact copies, it can exclude only one.) #}
{% macro live_rows(relation, sign='_sign') -%}
  {%- set sign = versioned_collapsing._get_identifier(sign) %}
  (
    select * except ({{ sign }})
    from {{ relation }} final
    where {{ sign }} = 1
    settings
      do_not_merge_across_partitions_select_final = 1,
      optimize_move_to_prewhere_if_final = 0,
      use_skip_indexes_if_final = 1
  )
{%- endmacro %}

{# Keeps the groups that have live rows. The others stay with sums of 0 until their pairs are merged. #}
{% macro having_live(sign='_sign') -%}
  having {{ versioned_collapsing.signed_count(sign) }} <> 0
{%- endmacro %}
