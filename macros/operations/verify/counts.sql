{# The kinds of keys of a range that are counted. `compared` counts all of them except those that are `later`. #}
{% macro get_verified_names() %}
  {%- do return(['compared', 'missing', 'unexpected', 'doubled', 'different', 'later']) -%}
{% endmacro %}


{% macro get_verified_counts_sql(comparison, rows, is_later, show) -%}
  {%- set unique_key = comparison.options.unique_key -%}
  select
    countIf(_dbt_kind <> 'later') as compared,
    {%- for name in versioned_collapsing.get_verified_names()[1:] %}
    countIf(_dbt_kind = {{ versioned_collapsing.quote_literal(name) }}) as {{ name }},
    {%- endfor %}
    arrayStringConcat(
      arraySort(groupArrayIf({{ show }})(concat(_dbt_kind, ' ', _dbt_shown), _dbt_kind not in ('same', 'later'))), ', '
    ) as differing_keys
  from (
    select
      _dbt_shown,
      multiIf(
        {{ is_later }}, 'later',
        _dbt_is_same, 'same',
        _dbt_live_rows = 0, 'missing',
        _dbt_true_rows = 0, 'unexpected',
        _dbt_live_rows > _dbt_true_rows, 'doubled',
        'different'
      ) as _dbt_kind
    from ({{ versioned_collapsing.get_compared_keys_sql(rows, unique_key, 'true') }})
  )
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# The sums of the counts of two ranges. #}
{% macro get_added_verified_counts(total, counts) %}
  {%- set keys = [total.get('differing_keys'), counts.differing_keys] | select | join(', ') -%}
  {%- set added = {'differing_keys': keys} -%}
  {%- for name in versioned_collapsing.get_verified_names() -%}
    {%- do added.update({name: total.get(name, 0) + counts[name]}) -%}
  {%- endfor -%}
  {%- do return(added) -%}
{% endmacro %}


{% macro get_verified_message(comparison, counts, cycle) %}
  {%- set later = versioned_collapsing.format_count(counts.later, 'key') ~ ' changed since; ' -%}
  {%- set state = 'complete' if cycle.verified == cycle.ranges
      else cycle.verified ~ ' of ' ~ versioned_collapsing.format_count(cycle.ranges, 'range') ~ ' verified' -%}
  {%- do return(
      comparison.table ~ ' beside ' ~ comparison.truth_text ~ ': '
      ~ versioned_collapsing.format_count(counts.compared, 'key') ~ ' compared, '
      ~ counts.missing ~ ' missing, ' ~ counts.unexpected ~ ' unexpected, ' ~ counts.doubled ~ ' doubled, '
      ~ counts.different ~ ' with other values; ' ~ (later if counts.later else '')
      ~ 'cycle ' ~ cycle.cycle ~ ': ' ~ state
  ) -%}
{% endmacro %}
