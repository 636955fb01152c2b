{# The rows of the change feed add up to the live rows of the table. If they do not, another writer has removed or
   inserted rows: views and readers of the feed do not know of it, and count such a key wrongly when it changes again.
   The test needs `change_feed: true`. It stops if the feed lacks an apply. #}
{% test feed_agrees(model, unique_key) %}
{%- set table = versioned_collapsing.read_signed_table(model, key=unique_key) -%}
{%- set history = versioned_collapsing.read_history('feed_agrees', table.relation, true, unique_key=unique_key) -%}
{%- if not history -%}{%- do return('select 1 where false') -%}{%- endif -%}
{%- set state = history.key ~ ', ' ~ history.version -%}

{% call versioned_collapsing.get_failing_rows_sql(['fed_rows', 'live_rows', 'failing_condition'], table.names) %}
  with
    ({{ versioned_collapsing.get_applies_since_sql(history, '0', with_open=true) }}) as _dbt_applies,
    _dbt_states as (
      select {{ state }}, {{ history.sign }} as _dbt_fed, 0 as _dbt_live
      from {{ history.feed }}
      where {{ versioned_collapsing.get_is_of_applies_sql('_dbt_applies') }}

      union all

      select {{ state }}, 0 as _dbt_fed, 1 as _dbt_live
      from {{ history.relation }} final
      where {{ history.sign }} = 1
    )

  select
    {{ state }},
    sum(_dbt_fed) as _dbt_fed_rows,
    sum(_dbt_live) as _dbt_live_rows,
    if(_dbt_fed_rows > _dbt_live_rows, 'the change feed has the row and the table lacks it',
      'the table has the row and the change feed lacks it') as _dbt_failing_condition
  from _dbt_states
  group by {{ state }}
  having _dbt_fed_rows <> _dbt_live_rows
{% endcall %}

{% endtest %}
