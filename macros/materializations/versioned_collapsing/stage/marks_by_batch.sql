{# With `delete_version: ignore`, deletes are ordered by batch. A batch that only deletes a key ends what was there
   before: the live row and the upserts of earlier batches, up to the highest of their versions.

   | flag        | what it says                                                                               |
   | ----------- | ------------------------------------------------------------------------------------------ |
   | is_deleting | the change's batch only deletes the key                                                    |
   | has_delete  | one of the key's batches only deletes it; the last such batch: deleted_in                  |
   | highest     | the highest version of the key's upserts                                                   |
   | is_ended    | an upsert of a batch before deleted_in                                                     |
   | has_ended   | the key has ended upserts; the highest of their versions: ended_version                    |
   | has_dead    | there was something to delete, live row or upserts; the highest of their versions: dead_at | #}
{% macro _get_marks_by_batch(options, truncated_at) %}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set dead_at -%}
    greatest(
      if(_dbt_has_live, _dbt_live_version, _dbt_ended_version),
      if(_dbt_has_ended, _dbt_ended_version, _dbt_live_version)
    )
  {%- endset -%}
  {%- set is_new -%}
    not _dbt_is_deleted
      and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and if(
        _dbt_has_delete,
        _dbt_batch > _dbt_deleted_in and not (_dbt_has_dead and {{ version }} <= _dbt_dead_at),
        not (_dbt_has_live and {{ version }} <= _dbt_live_version)
      )
  {%- endset -%}
  {%- set is_fallback -%}
    if(_dbt_has_delete, _dbt_is_deleting, not _dbt_is_deleted and {{ version }} = _dbt_highest)
  {%- endset -%}
  {%- set builds_on_live -%}
    {{ versioned_collapsing._outlives_truncate_sql(truncated_at) }}
      and not _dbt_has_delete
      and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at)
  {%- endset -%}
  {%- do return({
      '_dbt_is_deleting': 'min(_dbt_is_deleted) over (partition by ' ~ key ~ ', _dbt_batch)',
      '_dbt_has_delete': versioned_collapsing._any_of_key_sql('_dbt_is_deleting', options),
      '_dbt_deleted_in': 'maxIf(_dbt_batch, _dbt_is_deleting) over (partition by ' ~ key ~ ')',
      '_dbt_highest': versioned_collapsing._highest_of_key_sql('not _dbt_is_deleted', options),
      '_dbt_is_ended': 'not _dbt_is_deleted and _dbt_has_delete and _dbt_batch < _dbt_deleted_in',
      '_dbt_has_ended': versioned_collapsing._any_of_key_sql('_dbt_is_ended', options),
      '_dbt_ended_version': versioned_collapsing._highest_of_key_sql('_dbt_is_ended', options),
      '_dbt_has_dead': '_dbt_has_delete and (_dbt_has_live or _dbt_has_ended)',
      '_dbt_dead_at': dead_at,
      '_dbt_is_new': is_new,
      '_dbt_is_fallback': is_fallback,
      '_dbt_deletes_nothing': '_dbt_is_deleted and not _dbt_has_dead',
      '_dbt_builds_on_live': builds_on_live,
  }) -%}
{% endmacro %}
