{# With `delete_version: ignore` batches come in order: a batch that only deletes a key ends what was there
   before it, live row and upserts, up to the highest of their versions. #}
{% macro get_marks_without_versions_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    *,
    _dbt_has_delete and (_dbt_has_live or _dbt_has_before) as _dbt_has_dead,
    greatest(if(_dbt_has_live, _dbt_live_version, _dbt_before_version), if(_dbt_has_before, _dbt_before_version,
        _dbt_live_version)) as _dbt_dead_at,
    not _dbt_is_deleted and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and if(_dbt_has_delete, _dbt_batch > _dbt_deleted_in and not (_dbt_has_dead and {{ version }} <= _dbt_dead_at),
          not (_dbt_has_live and {{ version }} <= _dbt_live_version)) as _dbt_is_after,
    if(_dbt_has_delete, _dbt_is_deleting, not _dbt_is_deleted and {{ version }} = _dbt_highest) as _dbt_is_last,
    _dbt_is_deleted and not _dbt_has_dead as _dbt_buries,
    _dbt_is_alive and not _dbt_has_delete and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at) as _dbt_is_base
  from (
    select
      *,
      countIf(_dbt_is_before) over (partition by {{ key }}) > 0 as _dbt_has_before,
      maxIf({{ version }}, _dbt_is_before) over (partition by {{ key }}) as _dbt_before_version
    from (
      select
        *,
        countIf(_dbt_is_deleting) over (partition by {{ key }}) > 0 as _dbt_has_delete,
        maxIf(_dbt_batch, _dbt_is_deleting) over (partition by {{ key }}) as _dbt_deleted_in,
        maxIf({{ version }}, not _dbt_is_deleted) over (partition by {{ key }}) as _dbt_highest,
        {{ versioned_collapsing._reset_marks_sql(options) }},
        not _dbt_is_deleted and _dbt_has_delete and _dbt_batch < _dbt_deleted_in as _dbt_is_before
      from (
        select *, min(_dbt_is_deleted) over (partition by {{ key }}, _dbt_batch) as _dbt_is_deleting
        from _dbt_changed
      )
    )
  )
{%- endmacro %}
