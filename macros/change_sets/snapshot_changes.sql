{# The change set between two full extracts, each of which is a batch: the newest one that this run takes, and the
   stored one. Rows that are new, or that differ in a column other than `version`, are upserts. Rows that are gone are
   deletes. All have the version of the new extract. If a newer extract has been applied already, nothing changes.

   The stored extract is the newest one that a target has applied, and targets may have different ones. A row that
   differs from any of these extracts is a change. A target that already has the row counts the change as a duplicate.
   validate_stored_extracts has checked that these extracts are still there.

   A line that cannot be used leaves its row as it is stored. But if its key cannot be read, the line stops the model:
   it could be any row that is missing, and that row would be deleted. The model also stops for an extract without rows,
   for one that lacks more than the share `max_deletes` of the stored rows, and for one that changes rows at a version
   that is not above the stored one. #}
{% macro snapshot_changes(events, key, version, max_deletes=0.5) -%}
  {%- do config(meta={'compares_extracts': true}) -%}
  {%- set columns = versioned_collapsing.read_column_types(events) -%}
  {%- do versioned_collapsing.validate_snapshot_changes(model, events, key, version, columns, max_deletes) -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) | reject('equalto', version) | list -%}
  {%- set keys = key | map('string') | join(', ') -%}
  {%- set is_built = execute and this is not none -%}
  {%- set stored = versioned_collapsing.read_stored_extracts(model) if is_built else [] -%}
  {%- set batches = stored | map(attribute='batch') | reject('none') | unique | sort -%}
  {%- set is_new_to_a_target = batches | length == 0 or none in stored | map(attribute='batch') | list -%}
  with pair as (
    {{ versioned_collapsing.get_extract_pair_sql(events, batches, is_new_to_a_target) }}
  ),
  extracts as (
    select
      {{ keys }},
      _version,
      _batch,
      _batch = (select _new_batch from pair) as _is_new,
      if(_reason is null, struct({{ payload | join(', ') }}), null) as _row,
      if(_reason is null, {{ versioned_collapsing.get_digest_sql(payload, columns) }}, null) as _digest
    from {{ events }}
    where array_contains((select _batches from pair), _batch)
      and (_version is not null or _reason is not null)
  ),
  rows as (
    select
      {{ keys }},
      max_by(_row, _digest) filter (where _is_new) as _row,
      max(_digest) filter (where _is_new) as _digest,
      count_if(_is_new) as _lines,
      greatest(count(_digest) filter (where _is_new) - 1, 0) as _repeats,
      coalesce(min(_digest) filter (where _is_new) <> max(_digest) filter (where _is_new), false) as _is_conflict,
      count_if(not _is_new) > 0 as _was_there,
      {{ versioned_collapsing.get_is_stored_sql(batches, is_new_to_a_target) }} as _is_stored,
      max(if(_digest is null, null, _version)) filter (where _is_new) as _new_version,
      max(if(_digest is null, null, _version)) filter (where not _is_new) as _old_version
    from extracts
    group by {{ keys }}
  ),
  new_extract as (
    {{ versioned_collapsing.get_extract_version_sql(key, max_deletes) }}
  )
  select
    {{ keys }},
    {%- for name in payload %}
    _row.{{ name }} as {{ name }},
    {%- endfor %}
    if(_stored_version is null or _extracted_at > _stored_version, _extracted_at, raise_error(concat(
      'Extract ', _new_batch, ' has changes at version ', _extracted_at, ', which is not above ', _stored_version,
      ', the version of the stored extract, so the changes would be lost. Correct {{ version }} of the extract. '
      'If {{ version }} of the stored extract is wrong, build both again: '
      'dbt run --full-refresh --select {{ model.name }}+ --vars \'{rebuild_from_batch: ', _new_batch, '}\''
    ))) as _version,
    _lines = 0 as _is_deleted,
    _repeats - int(_is_conflict) as _duplicates,
    int(_is_conflict) as _conflicts,
    int(_lines = 0) as _derived
  from rows
  cross join new_extract
  where _lines = 0
    or (_row is not null and not _is_stored)
{%- endmacro %}
