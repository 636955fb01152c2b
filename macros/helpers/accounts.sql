{# The condition that the counts in a row of the ledger add up. Each line must have been counted as something, and each
   event, and each change that belongs to no event, must have an outcome. #}
{% macro get_adds_up_sql() -%}
  ifNull(lines = blank + quarantined + passed_over + events, true)
    and events + derived = {{ versioned_collapsing.get_outcomes_of_events() | join(' + ') }}
{%- endmacro %}


{# The possible outcomes of an event. No event has two of them. #}
{% macro get_outcomes_of_events() %}
  {%- do return([
      'superseded', 'truncates', 'states', 'deletes', 'duplicates', 'stale', 'conflicts', 'tombstoned', 'repaired'
  ]) -%}
{% endmacro %}


{# The columns of the ledger that these sums use. #}
{% macro get_accounted_names() %}
  {%- do return(
      versioned_collapsing.get_line_count_names() + ['derived'] + versioned_collapsing.get_outcomes_of_events()
  ) -%}
{% endmacro %}


{# The condition that a row of the ledger is about an apply to this table that has ended, and accounts for its events.
   #}
{% macro get_has_account_sql(table) -%}
  target_uuid = {{ versioned_collapsing.get_table_uuid_sql(table) }}
    and status in ('applied', 'partial')
    and events is not null
{%- endmacro %}
