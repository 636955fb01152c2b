{# The live rows of a collapsing table, for `from`: what `min`, `max`, `uniq` and quantiles need. Where a view
   counts the rows by value, `multiset` reads less.

   FINAL matches the pairs within each partition, where a cancel row is with its state row, and `where`, unlike
   `prewhere`, filters after that. Skip indexes are used: one that is not of the sorting key can rule out neither row
   of a pair alone, since a cancel row is a copy. (On a table whose cancel rows are no true copies it can.) #}
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
