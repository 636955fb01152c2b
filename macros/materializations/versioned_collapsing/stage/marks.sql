{# The flags that say which changes count, one flag per step. Both values of `delete_version` end in the same flags.

   | flag of a key  | what it says                                                                          |
   | -------------- | ------------------------------------------------------------------------------------- |
   | has_live       | it has a live row, of version live_version (from the start)                           |
   | has_reset      | one of its upserts is a reset, which builds on nothing; the highest is at reset_at    |
   | has_delete     | one of its changes deletes it; those at or below dead_at are dead                     |
   | has_new        | one of its upserts is new                                                             |
   | builds_on_live | new upserts are combined with the live row: no truncate, delete or reset lies between |

   | flag of a change | what it says                                                                      |
   | ---------------- | --------------------------------------------------------------------------------- |
   | is_new           | an upsert above the live row, the tombstone, the last delete and the last reset   |
   | is_fallback      | stands for its key if no upsert is new: it is then stale, a duplicate or a delete |
   | deletes_nothing  | a delete with nothing left to delete                                              |
   | is_taken         | goes into the fold: new, or the fallback                                          |
   | is_late          | a partial change below the live row, which can no longer be combined              |

   With `delete_version: respect`, deletes are ordered among the upserts by version (_get_marks_by_version). With
   `ignore`, they are ordered by batch (_get_marks_by_batch). #}
{% macro get_marks(options, columns, truncated_at) %}
  {%- set version = adapter.quote(options.version) -%}
  {%- set is_reset = '_dbt_is_reset and not _dbt_is_deleted' -%}
  {%- set resets = {
      '_dbt_has_reset': versioned_collapsing._any_of_key_sql(is_reset, options),
      '_dbt_reset_at': versioned_collapsing._highest_of_key_sql(is_reset, options),
  } -%}
  {%- set deletes = versioned_collapsing._get_marks_by_batch(options, truncated_at)
      if options.delete_version == 'ignore' else versioned_collapsing._get_marks_by_version(options, truncated_at) -%}
  {%- set is_late -%}
    not _dbt_is_deleted and not _dbt_is_tombstoned and _dbt_has_live and {{ version }} < _dbt_live_version
      {%- if not options.combine %}
      and {{ versioned_collapsing._is_partial_sql('_dbt_unset', columns) }}
      {%- endif %}
  {%- endset -%}
  {%- set folded = {
      '_dbt_has_new': versioned_collapsing._any_of_key_sql('_dbt_is_new', options),
      '_dbt_is_taken': 'if(_dbt_has_new, _dbt_is_new, _dbt_is_fallback)',
      '_dbt_is_late': is_late,
  } -%}
  {%- do return(dict(dict(resets, **deletes), **folded)) -%}
{% endmacro %}
