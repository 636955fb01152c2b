{# What an aggregate says of every group is what the table says: `aggregate` is a view, or the table of a
   SummingMergeTree view; or `projection` names an aggregating projection of the table itself, of which the stored sums
   are compared.
   `group_by` and `sums` map the aggregate's columns to expressions of the table, `count` is its column with the count
   of live rows. `where` is of the columns in `group_by`, and sampling by them.

   A group that one side lacks has sums of 0 there: of a group that is dead, a merge may leave nothing. So has one whose
   values are null: a SummingMergeTree makes it 0. #}
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
{%- set count_of_table = versioned_collapsing.quote_name('_dbt_' ~ count ~ '_of_table') -%}
{%- set count_of_aggregate = versioned_collapsing.quote_name('_dbt_' ~ count ~ '_of_aggregate') -%}
{%- set shown = [] -%}
{%- set differs = [] -%}
{%- for name in measures -%}
  {%- set of_table = versioned_collapsing.quote_name('_dbt_' ~ name ~ '_of_table') -%}
  {%- set of_aggregate = versioned_collapsing.quote_name('_dbt_' ~ name ~ '_of_aggregate') -%}
  {%- do shown.extend([name ~ '_of_table', name ~ '_of_aggregate']) -%}
  {%- do differs.append('not (' ~ of_table ~ ' <=> ' ~ of_aggregate ~ ')') -%}
{%- endfor -%}

{% call versioned_collapsing.get_failing_rows_sql(shown + ['differing_columns', 'failing_condition'], groups) %}
  with _dbt_from_table as (
    {{ versioned_collapsing.signed_sums(stored_rows, groups, sums, count, table.sign) }}
  ),

  _dbt_from_aggregate as (
    {%- if projection is none %}
    select
      {%- for name in groups %}
      {{ versioned_collapsing.quote_name(name) }},
      {%- endfor %}
      {%- for name in measures %}
      sum({{ versioned_collapsing.quote_name(name) }}) as _dbt_sum_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from {{ aggregate }}
    {%- if groups %}
    group by {{ key }}
    {%- endif %}
    {%- else %}
    {{ versioned_collapsing.get_projection_sums_sql(
        table.relation, projection, groups, versioned_collapsing.read_projected_names(table, groups, sums)
    ) }}
    {%- endif %}
  ),

  -- What the other side says is null: the two may have different types, of which a union would make a Variant.
  _dbt_both as (
    select
      {%- for name in groups %}
      {{ versioned_collapsing.quote_name(name) }},
      {%- endfor %}
      {%- for name in measures %}
      {{ versioned_collapsing.quote_name(name) }} as _dbt_of_table_{{ loop.index }},
      null as _dbt_of_aggregate_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from _dbt_from_table

    union all

    select
      {%- for name in groups %}
      {{ versioned_collapsing.quote_name(name) }},
      {%- endfor %}
      {%- for name in measures %}
      null as _dbt_of_table_{{ loop.index }},
      _dbt_sum_{{ loop.index }} as _dbt_of_aggregate_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from _dbt_from_aggregate
  )

  select
    {%- for name in groups %}
    {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {%- for name in measures %}
    {%- set of_table = versioned_collapsing.quote_name('_dbt_' ~ name ~ '_of_table') -%}
    {%- set of_aggregate = versioned_collapsing.quote_name('_dbt_' ~ name ~ '_of_aggregate') %}
    ifNull(sum(_dbt_of_table_{{ loop.index }}), 0) as {{ of_table }},
    ifNull(sum(_dbt_of_aggregate_{{ loop.index }}), 0) as {{ of_aggregate }},
    {%- endfor %}
    {{ versioned_collapsing.get_differing_columns_sql(measures, differs) }} as _dbt_differing_columns,
    multiIf(
      {{ count_of_table }} = 0 and {{ count_of_aggregate }} <> 0,
      'the aggregate has the group, but the table does not',
      {{ count_of_aggregate }} = 0 and {{ count_of_table }} <> 0,
      'the table has the group, but the aggregate does not',
      concat('the aggregate has other values: ', arrayStringConcat(_dbt_differing_columns, ', '))
    ) as _dbt_failing_condition
  from _dbt_both
  where ({{ where }})
    and {{ versioned_collapsing.get_keys_in_scope_sql(table, key, groups.values() | join(', '), sample, partitions) }}
  {%- if groups %}
  group by {{ key }}
  {%- endif %}
  having notEmpty(_dbt_differing_columns)
{% endcall %}

{% endtest %}
