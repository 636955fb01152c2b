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
