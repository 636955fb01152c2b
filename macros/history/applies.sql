{# The applies to the table that has the name now, from an apply on, each with what the feed has of it. `is_complete`:
   that is all that the apply set out to publish, which may be nothing. #}
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
      argMinIf(signed_rows, at, status in ('started', 'restored')) as published_rows
    from {{ history.ledger }}
    where target_uuid = {{ history.uuid }}
      and apply >= {{ first }}
      and status in ('started', 'applied', 'partial', 'repaired', 'restored')
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


{# The rows of the feed that belong to applies, given the name of the array with their numbers. #}
{% macro get_is_of_applies_sql(applies) -%}
  _apply >= arrayMin(arrayPushBack({{ applies }}, 18446744073709551615)) and has({{ applies }}, _apply)
{%- endmacro %}


{# What the feed says it began with, if it was begun when the table was there already: how many rows, and before which
   apply. Of a feed that began with another table, or with the first apply, both are 0. #}
{% macro get_begin_sql(history) -%}
  select
    maxIf(
      (toUInt64OrZero(extract(comment, 'Begins with (\\d+) rows')), toUInt64OrZero(extract(comment, 'apply (\\d+)$'))),
      extract(comment, 'rows of (\\S+),') = toString({{ history.uuid }})
    )
  from system.tables
  where {{ versioned_collapsing.get_is_table_sql(history.changes) }}
{%- endmacro %}


{# Whether the table had rows before the ledger began to count. #}
{% macro get_has_older_rows_sql(history) -%}
  select count() > 0
  from {{ history.ledger }}
  where target_uuid = {{ history.uuid }}
    and (status = 'adopted' or (apply = 0 and status in ('applied', 'partial', 'repaired') and states + cancels > 0))
{%- endmacro %}
