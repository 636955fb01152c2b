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
{%- set given_types = versioned_collapsing.read_reference_types(table, reference) if execute else {} -%}
{%- set names = versioned_collapsing.as_list(columns)
    or table.columns | reject('equalto', table.version_name) | list -%}
{%- do versioned_collapsing.validate_compared_columns(
    'live_rows_equal', table.relation, reference, columns, names, table.columns, given_types
) -%}
{%- set compared = versioned_collapsing.get_compared_columns(names, table.columns, given_types) -%}
{%- set in_scope = versioned_collapsing.get_keys_in_scope_sql(table, table.key, table.key, sample, partitions) -%}
{%- set live = {'rows': table.relation, 'where': where, 'sign': table.sign} -%}
{%- set shown = ['live_rows', 'given_rows', 'differing_columns', 'failing_condition'] -%}

{% call versioned_collapsing.get_failing_rows_sql(shown, table.names) %}
  select
    * except (_dbt_kind),
    multiIf(
      _dbt_kind = 'missing', 'in the reference, but not live',
      _dbt_kind = 'unexpected', 'live, but not in the reference',
      _dbt_kind = 'doubled', 'live more often than in the reference',
      concat('other values than in the reference: ', arrayStringConcat(_dbt_differing_columns, ', '))
    ) as _dbt_failing_condition
  from ({{ versioned_collapsing.get_compared_keys_sql(
      compared, table.key, live, {'rows': reference, 'where': where}, in_scope
  ) }})
  where _dbt_kind <> 'same'
{% endcall %}

{% endtest %}
