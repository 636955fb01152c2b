{# Every line of a batch is blank, quarantined, skipped or an event, and the ledger accounts for every event: the counts
   of each apply to the table add up. #}
{% test every_event_is_accounted_for(model) %}
{%- set table = versioned_collapsing.get_tested_relation(model) -%}

select
  run_id,
  at,
  batches.batch as batches,
  {%- for name in versioned_collapsing.get_accounted_names() %}
  {{ name }},
  {%- endfor %}
  if(
    ifNull(lines = blank + quarantined + ignored + events, true),
    'the events and their outcomes do not add up',
    'the lines and their kinds do not add up'
  ) as failing_condition
from (
  select *
  from {{ versioned_collapsing.get_ledger_relation(table) }}
  where {{ versioned_collapsing.get_has_account_sql(table) }}
    and not ({{ versioned_collapsing.get_adds_up_sql() }})
  {{ versioned_collapsing.get_test_settings_sql() }}
) as _dbt_failing

{% endtest %}
