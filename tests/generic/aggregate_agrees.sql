{# An aggregate has the same sums for every group as the table. `aggregate` is a view, or the table of a
   SummingMergeTree view. Or `projection` names an aggregating projection of the table itself, and its stored sums are
   compared. `group_by` and `sums` map the aggregate's columns to expressions of the table. `count` is the column with
   the count of live rows. `where` and sampling use the columns in `group_by`.

   A group that only one side has counts as sums of 0 on the other: a merge may remove a group without live rows. Sums
   that are null count as 0 too: a SummingMergeTree stores them as 0. #}
{% test aggregate_agrees(
    model, group_by, sums, count='live_rows', aggregate=none, projection=none, sign=none, sample=none,
    recent_partitions=none
) %}
{%- do versioned_collapsing.validate_one_aggregate(aggregate, projection) -%}
{%- set where = config.get('where') or 'true' -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}
{%- set groups = versioned_collapsing.get_named_expressions(group_by) -%}
{%- set measures = versioned_collapsing.get_named_expressions(sums).keys() | list + [count] -%}
{%- set key = versioned_collapsing.quote_names(groups) -%}
{%- set stored_rows = versioned_collapsing.get_rows_without_projections(table) -%}
{%- set in_scope = '(' ~ where ~ ') and ' ~ versioned_collapsing.get_keys_in_scope_sql(
    table, key, groups.values() | join(', '), sample, partitions
) -%}
{%- set sides = {'expected': 'table', 'found': 'aggregate'} -%}

{% call versioned_collapsing.get_failing_rows_sql(versioned_collapsing.get_shown_sums(measures, sides), groups) %}
  with _dbt_expected as (
    {{ versioned_collapsing.signed_sums(stored_rows, groups, sums, count, table.sign) }}
  ),

  _dbt_found as (
    {%- if projection is none %}
    {{ versioned_collapsing.get_kept_sums_sql(aggregate, groups, measures) }}
    {%- else %}
    {{ versioned_collapsing.get_projection_sums_sql(
        table.relation, projection, groups, versioned_collapsing.read_projected_names(table, groups, sums)
    ) }}
    {%- endif %}
  )

  {{ versioned_collapsing.get_differing_sums_sql(groups, measures, sides, in_scope) }}
{% endcall %}

{% endtest %}
