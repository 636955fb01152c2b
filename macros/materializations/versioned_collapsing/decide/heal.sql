{# Keys with other uncollapsed rows than one state: torn by a run that died, or wrong from elsewhere. The
   opposite of every uncollapsed row that should not be there, and the state that should and is not.
   Two states of one version that differ stay: no cancel row could tell them apart. One flag a step:

   | flag of a key       | what it says                                                                      |
   | ------------------- | --------------------------------------------------------------------------------- |
   | stored_rows         | its uncollapsed rows; states: those of them that are states (from the start)      |
   | change              | what is staged of it, a state row, or deletes it: change_deletes (from the start) |
   | has_live            | it has a state row; the highest version of these: live_version                    |
   | is_accepted         | the change replaces what is stored                                                |
   | surplus             | the rows that should not be there: all but one of each state that stays           |
   | added               | the state that should be there and is not, if any                                 |
   | written_rows        | the surplus and what is added, with the signs with which they are written         | #}
{% macro get_heal_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set others = columns.names | reject('in', options.unique_key) | list -%}
  with _dbt_per_key as (
    {{ versioned_collapsing._get_torn_rows_sql(target_relation, options, columns, uncollapsed) }}
  ),
  {{ versioned_collapsing.get_steps_sql('_dbt_per_key', versioned_collapsing._get_heal_steps(options), '_dbt_healed') }}
  select
    {{ get_quoted_csv(options.unique_key) }},
    {%- for name in others %}
    {{ versioned_collapsing.get_element_sql('_dbt_written', name) }},
    {%- endfor %}
    _dbt_written_sign
  from _dbt_healed
  array join _dbt_written_rows as _dbt_written, _dbt_written_signs as _dbt_written_sign
{%- endmacro %}
