{# The state rows of the whole feed, each with its life: the cancel rows of its key and version up to the next such
   state row end it. The columns of a life begin with `_dbt_`.

   Rows of others than the materialization are not in the feed, but their healing is. So the table has the last word on
   what is live now. A cancel row without a state row is of a row that the feed never had. A state row that is not live
   and was never cancelled took back a cancel row that the feed never had. A live row that was cancelled was stored
   twice.

   An apply writes to the feed, then to the ledger, then to the table. So the table must be read first, the ledger next
   and the feed last: all that the table shows is then in the feed. A query of ClickHouse sees every table as it was
   when its name was resolved first (`enable_shared_storage_snapshot_in_query`, which is on by default), and the first
   select of a union is resolved first. That one returns no rows. #}
{% macro get_states_with_lives_sql(history) %}
  {%- set state = history.key ~ ', ' ~ history.version %}
  (
    select
      {{ history.names }},
      {{ history.version }} as _dbt_from,
      {{ history.version }} as _dbt_to,
      toUInt8(1) as _dbt_is_current,
      toDateTime64(0, 6, 'UTC') as _dbt_known_from,
      toDateTime64(0, 6, 'UTC') as _dbt_known_to,
      toUInt64(0) as _dbt_apply
    from {{ history.relation }}
    where false and (select count() from {{ history.ledger }}) < 0

    union all

    with
      ({{ versioned_collapsing.get_applies_since_sql(history, '0', with_open=true) }}) as _dbt_applies,
      _dbt_lives as ({{ versioned_collapsing._get_lives_sql(history, state) }})
    select {{ history.names }}, _dbt_lives.* except ({{ state }}, _apply), _apply as _dbt_apply
    from (
      select {{ history.names }}, _apply
      from {{ history.feed }}
      where {{ versioned_collapsing.get_is_of_applies_sql('_dbt_applies') }} and {{ history.sign }} = 1
    ) as _dbt_states
    inner any join _dbt_lives using ({{ state }}, _apply)
  )
{%- endmacro %}


{# The first newer change ended a life. Where there is none, that is a delete at the version of the state; such a cancel
   row also repairs a row that was stored twice. #}
{% macro _get_lives_sql(history, state) -%}
  {%- set ended = '(_changed_version <= ' ~ history.version ~ ', _apply)' -%}
  select
    {{ state }},
    _dbt_born as _apply,
    _dbt_from,
    _dbt_to,
    _dbt_is_current,
    _dbt_known_from,
    _dbt_known_to
  from (
    select
      {{ state }},
      anyIf(_apply, {{ history.sign }} = 1) as _dbt_born,
      {{ history.version }} as _dbt_from,
      argMinIf(_changed_version, {{ ended }}, {{ history.sign }} = -1) as _dbt_to,
      anyIf(_applied_at, {{ history.sign }} = 1) as _dbt_known_from,
      argMinIf(_applied_at, {{ ended }}, {{ history.sign }} = -1) as _dbt_known_to,
      _dbt_life = any(_dbt_lives_of_state) and ({{ state }}) in (
        select {{ state }} from {{ history.relation }} final where {{ history.sign }} = 1
      ) as _dbt_is_current,
      countIf({{ history.sign }} = -1) > 0 as _dbt_is_cancelled
    from (
      select
        {{ state }}, {{ history.sign }}, _apply, _applied_at, _changed_version,
        countIf({{ history.sign }} = 1) over (
          partition by {{ state }} order by _apply, {{ history.sign }} desc
          rows between unbounded preceding and current row
        ) as _dbt_life,
        countIf({{ history.sign }} = 1) over (partition by {{ state }}) as _dbt_lives_of_state
      from {{ history.feed }}
      where {{ versioned_collapsing.get_is_of_applies_sql('_dbt_applies') }}
    )
    where _dbt_life > 0
    group by {{ state }}, _dbt_life
  )
  where _dbt_is_current or _dbt_is_cancelled
{%- endmacro %}
