{# The live values of a view of counts, for `from`: each group with a value once, and how many live rows have it.
   Sums of signs give counts alone, and from counts by value the macros `multiset_…` give all else.

   `columns` are those by which the view counts, or some of them. The counts are summed here again: a SummingMergeTree
   has several rows of a group until they are merged. A table of signed rows is such a view too, its sign the count. #}
{% macro multiset(relation, columns, count='live_rows') -%}
  (
    select *
    from ({{ versioned_collapsing.signed_sums(relation, columns, [], count, count) }}
    )
    where {{ versioned_collapsing._get_is_live_sql(count) }}
  )
{%- endmacro %}


{# A value lives in as many rows as its count says. Where a cancel row came before its state row, that is below 0. #}
{% macro _get_is_live_sql(count) -%}
  {{ versioned_collapsing._get_identifier(count) }} > 0
{%- endmacro %}
