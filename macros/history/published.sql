{# The numbers of the applies after a given one, as an array; `apply` is an expression. After 0 these are all applies:
   if the feed is younger than the table, the rows that it began with stand for the earlier applies, and have the number
   0. Stops the query if the feed lacks any of them.

   `with_open`: whether applies count that are just being published. Without them, the array has 0 only together with
   another number: a reader that stores the last number it has seen would read those rows twice. #}
{% macro get_applies_since_sql(history, apply, with_open) -%}
  with
    toUInt64(ifNull({{ apply }}, 0)) as _dbt_since,
    ({{ versioned_collapsing.get_begin_sql(history) }}) as _dbt_begin,
    _dbt_since = 0 and _dbt_begin.2 > 0 as _dbt_has_begin,
    groupArrayIf(apply, is_wanted) as _dbt_wanted
  select if(_dbt_has_begin{{ '' if with_open else ' and notEmpty(_dbt_wanted)' }}, [0], []) || _dbt_wanted
  from (
    select
      apply,
      is_complete,
      apply > _dbt_since and (_dbt_since > 0 or apply >= _dbt_begin.2){{ '' if with_open else ' and is_ended' }}
        as is_wanted
    from ({{ versioned_collapsing.get_applies_sql(history, 'greatest(_dbt_since, 1)') }})
  )
  having
    throwIf(_dbt_since > 0 and countIf(apply = _dbt_since) = 0, {{ versioned_collapsing.quote_literal(
        history.relation.identifier ~ ' has had no apply of this number. If the table was rebuilt, the rows that you '
        ~ 'read before belong to the old table. Read it again with apply=0'
    ) }}) = 0
    and throwIf(
      countIf(is_wanted and not is_complete) > 0
        or (_dbt_has_begin and (select count() from {{ history.feed }} where _apply = 0) <> _dbt_begin.1)
        or (_dbt_since = 0 and _dbt_begin.2 = 0 and ({{ versioned_collapsing.get_has_older_rows_sql(history) }})),
      {{ versioned_collapsing.quote_literal(versioned_collapsing.get_lack_message(history)) }}
    ) = 0
{%- endmacro %}

{# What the feed began with, according to its comment, if the table existed before it: the number of rows, and the first
   apply that it has. Both are 0 if the feed began with another table, or with the first apply. #}
{% macro get_begin_sql(history) -%}
  select
    maxIf(
      (toUInt64OrZero(extract(comment, 'Begins with (\\d+) rows')), toUInt64OrZero(extract(comment, 'apply (\\d+)$'))),
      extract(comment, 'rows of (\\S+),') = toString({{ history.uuid }})
    )
  from system.tables
  where {{ versioned_collapsing.get_is_table_sql(history.changes) }}
{%- endmacro %}

{# The applies to the current table, from a given one on, each with what the feed has of it. `is_complete`: the feed has
   all that the apply set out to publish, which may be nothing. #}
{% macro get_applies_sql(history, first='1') -%}
  select
    apply,
    is_ended,
    if(fed_rows > 0, fed_at, began) as begun_at,
    fed_rows = published_rows as is_complete
  from (
    select
      apply,
      min(at) as began,
      max(status <> 'started') as is_ended,
      countIf(status = 'forgotten') > 0 as has_forgotten,
      if(
        has_forgotten,
        argMaxIf(signed_rows, at, status = 'forgotten'),
        argMinIf(signed_rows, at, status in ('started', 'restored'))
      ) as published_rows
    from {{ history.ledger }}
    where target_uuid = {{ history.uuid }}
      and apply >= {{ first }}
      and status in ('started', 'applied', 'partial', 'rebalanced', 'forgotten', 'restored')
    group by apply
  ) as _dbt_known
  left any join (
    select _apply as apply, count() as fed_rows, max(_applied_at) as fed_at
    from {{ history.feed }}
    where _apply >= {{ first }}
    group by _apply
  ) as _dbt_fed using (apply)
  settings join_use_nulls = 0
{%- endmacro %}

{# Whether the table had rows before the ledger began to count. #}
{% macro get_has_older_rows_sql(history) -%}
  select count() > 0
  from {{ history.ledger }}
  where target_uuid = {{ history.uuid }}
    and (status = 'adopted' or (apply = 0 and status in ('applied', 'partial', 'rebalanced') and states + cancels > 0))
{%- endmacro %}

{% macro get_lack_message(history) %}
  {%- do return(
      'The change feed of ' ~ history.relation.identifier ~ ' does not have all applies that this query needs. Rows '
      ~ 'of it were removed, it was dropped or switched off for a time, or it began later. To begin a new feed, set '
      ~ '`change_feed: true` in the model of ' ~ history.relation.identifier ~ ' and drop '
      ~ history.changes.identifier ~ '. The next apply that writes rows then creates a feed that begins with the live '
      ~ 'rows of the table. Earlier changes are lost'
      ~ ('' if history.has_feed else '. When this query was compiled, there was no feed. If there is one now, compile '
      ~ 'it again: run the model of the view')
  ) -%}
{% endmacro %}

{# The numbers of the applies that began after a time, as an array. #}
{% macro get_applies_after_sql(history, at) -%}
  {%- set of_table = 'target_uuid = ' ~ history.uuid -%}
  {%- set first -%}
    (
      select ifNull(minOrNull(apply), 18446744073709551615)
      from {{ history.ledger }}
      where {{ of_table }} and apply > 0 and status in ('started', 'restored') and at > _dbt_at
    )
  {%- endset -%}
  with toDateTime64({{ at }}, 6, 'UTC') as _dbt_at
  select groupArrayIf(apply, is_wanted)
  from (
    select apply, is_complete, begun_at > _dbt_at as is_wanted
    from ({{ versioned_collapsing.get_applies_sql(history, first) }})
  )
  having
    throwIf(
      _dbt_at < (
        select minIf(at, status in ('applied', 'partial', 'adopted', 'rebalanced') or _dbt_is_emptied)
        from (
          select
            *,
            status = 'started'
              and apply in (select apply from {{ history.ledger }} where {{ of_table }} and status = 'forgotten')
              as _dbt_is_emptied
          from {{ history.ledger }}
          where {{ of_table }}
        )
      ) and (
        select count()
        from {{ history.feed }}
        where _apply = (select min(apply) from {{ history.ledger }} where {{ of_table }} and apply > 0)
          and _applied_at <= _dbt_at
      ) = 0,
      {{ versioned_collapsing.quote_literal(
          history.relation.identifier ~ ' did not exist at this time, or has been rebuilt since then. Give a '
          ~ 'later time'
      ) }}
    ) = 0
    and throwIf(
      countIf(is_wanted and not is_complete) > 0,
      {{ versioned_collapsing.quote_literal(versioned_collapsing.get_lack_message(history)) }}
    ) = 0
{%- endmacro %}

{# The rows of the feed that belong to applies, given the name of the array with their numbers. #}
{% macro get_is_of_applies_sql(applies) -%}
  _apply >= arrayMin(arrayPushBack({{ applies }}, 18446744073709551615)) and has({{ applies }}, _apply)
{%- endmacro %}
