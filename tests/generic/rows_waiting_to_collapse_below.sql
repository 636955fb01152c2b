{# No partition has more rows that wait for a merge than `rows`, or a greater share of its stored rows than `share`.
   Such rows make every query read more. A partition that is no longer merged keeps them for ever. #}
{% test rows_waiting_to_collapse_below(model, rows=none, share=none, sign=none, sample=none, recent_partitions=none) %}
{%- do versioned_collapsing.validate_waiting_limits(rows, share) -%}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}
{%- set shown = ['partition_id', 'stored_rows', 'waiting_rows', 'waiting_share', 'failing_condition'] -%}

{% call versioned_collapsing.get_failing_rows_sql(shown, []) %}
  select
    _partition_id as _dbt_partition_id,
    count() as _dbt_stored_rows,
    {{ versioned_collapsing.get_waiting_rows_count_sql(table.sign) }} as _dbt_waiting_rows,
    _dbt_waiting_rows / _dbt_stored_rows as _dbt_waiting_share,
    concat(
      toString(_dbt_waiting_rows), ' of ', toString(_dbt_stored_rows),
      if(_dbt_stored_rows = 1, ' row', ' rows'), if(_dbt_waiting_rows = 1, ' is', ' are'), ' waiting for a merge'
    ) as _dbt_failing_condition
  from {{ table.relation }}
  where {{ versioned_collapsing.get_scope_sql(table, where, sample, partitions) }}
  group by _dbt_partition_id
  having false
    {%- if rows is not none %}
    or _dbt_waiting_rows >= {{ rows / sample if sample else rows }}
    {%- endif %}
    {%- if share is not none %}
    or _dbt_waiting_share >= {{ share }}
    {%- endif %}
{% endcall %}

{% endtest %}
