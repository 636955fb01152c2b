{# The live rows are the rows of `reference`: a relation, on either engine, or anything that can follow `from`. The test
   compares `columns`, by default all except sign and version, in the types of the table. A value that does not fit its
   type counts as different. With `sample` and `recent_partitions`, the test looks only for the keys that the table has
   there. `where` filters both sides. #}
{% test live_rows_equal(
    model, reference, unique_key, columns=none, version=none, sign=none, sample=none, recent_partitions=none
) %}
{%- set where = config.get('where') or 'true' -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign, version, unique_key) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}
{%- do versioned_collapsing.validate_reference('live_rows_equal', reference) -%}
{%- do versioned_collapsing.validate_compared_columns(table, columns) -%}
{%- set given_types = versioned_collapsing.read_reference_types(table, reference) if execute else {} -%}
{%- set compared = versioned_collapsing.get_compared_columns(table, columns, given_types) -%}
{%- set names = compared | map(attribute='name') | list -%}
{%- set listed = versioned_collapsing.quote_names(compared | map(attribute='name')) -%}
{%- set differs = [] -%}
{%- for column in compared -%}
  {%- do differs.append(
      'uniqExact(tuple(' ~ versioned_collapsing.quote_name(column.name) ~ ')) > 1 '
      ~ 'or has(groupUniqArrayArray(_dbt_lost), ' ~ versioned_collapsing.quote_literal(column.name) ~ ')'
  ) -%}
{%- endfor -%}

{%- set shown = ['live_rows', 'true_rows', 'differing_columns', 'failing_condition'] -%}

{% call versioned_collapsing.get_failing_rows_sql(shown, table.names) %}
  with _dbt_live as (
    select
      {%- for column in compared %}
      {{ versioned_collapsing.get_live_value_sql(column) }} as _dbt_value_{{ loop.index }},
      {%- endfor %}
      emptyArrayString() as _dbt_lost,
      toInt64({{ table.sign }}) as _dbt_net
    from {{ table.relation }}
    where {{ where }}
  ),

  _dbt_reference as (
    select
      {%- for column in compared %}
      {{ versioned_collapsing.get_true_value_sql(column) }} as _dbt_value_{{ loop.index }},
      {%- endfor %}
      {{ versioned_collapsing.get_lost_columns_sql(compared) }} as _dbt_lost,
      toInt64(-1) as _dbt_net
    from (select * from {{ reference }} where {{ where }})
  ),

  _dbt_differences as (
    select
      {%- for column in compared %}
      _dbt_value_{{ loop.index }} as {{ versioned_collapsing.quote_name(column.name) }},
      {%- endfor %}
      _dbt_lost,
      sum(_dbt_net) as _dbt_surplus
    from (
      select * from _dbt_live
      union all
      select * from _dbt_reference
    )
    group by all
    having _dbt_surplus <> 0
  )

  select
    {{ table.key }},
    sumIf(_dbt_surplus, _dbt_surplus > 0) as _dbt_live_rows,
    -sumIf(_dbt_surplus, _dbt_surplus < 0) as _dbt_true_rows,
    {{ versioned_collapsing.get_differing_columns_sql(names, differs) }} as _dbt_differing_columns,
    multiIf(
      _dbt_true_rows = 0, 'live, but not in the reference',
      _dbt_live_rows = 0, 'in the reference, but not live',
      concat('other values than in the reference: ', arrayStringConcat(_dbt_differing_columns, ', '))
    ) as _dbt_failing_condition
  from _dbt_differences
  where {{ versioned_collapsing.get_keys_in_scope_sql(table, table.key, table.key, sample, partitions) }}
  group by {{ table.key }}
{% endcall %}

{% endtest %}
