{# A view of sums has the same sums for every group as the rows of `reference`: a relation, or what can stand after
   `from`, for example a join of live rows. The test is for views of joins; `aggregate_agrees` knows the signs of one
   table.
   `group_by` and `sums` map the view's columns to expressions of the reference. `count` is the column with the count of
   rows. `where` uses the columns in `group_by`.

   As in `aggregate_agrees`, a group that only one side has counts as sums of 0 on the other. #}
{% test sums_equal(model, reference, group_by, sums, count='live_rows') %}
{%- do versioned_collapsing.validate_reference('sums_equal', reference) -%}
{%- set groups = versioned_collapsing.get_named_expressions(group_by) -%}
{%- set summed = versioned_collapsing.get_named_expressions(sums) -%}
{%- set measures = summed.keys() | list + [count] -%}
{%- set sides = {'expected': 'reference', 'found': 'view'} -%}

{% call versioned_collapsing.get_failing_rows_sql(versioned_collapsing.get_shown_sums(measures, sides), groups) %}
  with _dbt_expected as (
    {{ versioned_collapsing.get_true_sums_sql(reference, groups, summed, count) }}
  ),

  _dbt_found as (
    {{ versioned_collapsing.get_kept_sums_sql(model, groups, measures) }}
  )

  {{ versioned_collapsing.get_differing_sums_sql(groups, measures, sides, config.get('where') or 'true') }}
{% endcall %}

{% endtest %}
