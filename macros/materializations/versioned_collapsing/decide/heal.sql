{# The rows that repair torn keys, whose uncollapsed rows are not exactly one state row: a run died, or another writer
   left them so. They are the opposite of every uncollapsed row that should not be there, and the state row that should
   be there, if it is missing. Two different state rows of the highest version stay until a newer change replaces them:
   no cancel row could tell them apart. One flag per step:

   | flag of a key | what it says                                                                               |
   | ------------- | ------------------------------------------------------------------------------------------ |
   | stored_rows   | its uncollapsed rows; states: the state rows among them (both from the start)              |
   | change        | its staged change, as a state row; change_deletes: whether it is a delete (from the start) |
   | has_live      | it has a state row; live_version: the highest version of its state rows                    |
   | is_accepted   | the change replaces what is stored                                                         |
   | surplus       | the rows that should not be there: all but one of each state row that stays                |
   | added         | the state row that should be there and is missing, if any                                  |
   | written_rows  | surplus and added; written_signs: the signs with which they are written                    | #}
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
