{# The change set between two full extracts, each a batch: the newest that this run takes, and the one before it. Rows
   that are new or differ, but for the column `version`, are upserts; rows that are gone are deletes; all have the new
   extract's version. When a newer extract has been applied already, nothing changes.

   A broken line leaves its row as it is stored. One whose key cannot be read could be any row that is missing, and
   would delete it: it stops the model. #}
{% macro snapshot_changes(events, key, version) -%}
  {%- set columns = versioned_collapsing.get_column_names(events) -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) | reject('equalto', version) | list -%}
  {%- set keys = key | join(', ') -%}
  with pair as (
    {{ versioned_collapsing._get_extract_pair_sql(model) }}
  ),
  extracts as (
    select
      {{ keys }},
      _version,
      _reason,
      _batch = (select _new_batch from pair) as _is_new,
      if(_reason is null, struct({{ payload | join(', ') }}), null) as _row,
      if(_reason is null, xxhash64({{ payload | join(', ') or '1' }}), null) as _digest
    from {{ events }}
    where (_batch = (select _new_batch from pair) or _batch = (select _old_batch from pair))
      and (_version is not null or _reason is not null)
  ),
  extract as (
    select
      pair._new_batch,
      case
        when count(_is_new) = 0 then raise_error(concat('Extract ', _new_batch, ' has no rows, which would delete every row. Take it away, or set through_batch.'))
        when count_if(_is_new and ({{ key | join(' is null or ') }} is null)) > 0 then raise_error(concat(
          'Extract ', _new_batch, ' has lines without a readable key: which rows are gone cannot be told. They are in the quarantine; correct them, or take the extract away.'
        ))
        else max(_version)
      end as _extracted_at
    from pair
    left join extracts on _is_new
    group by pair._new_batch
  ),
  rows as (
    select
      {{ keys }},
      max(if(_is_new, _row, null)) as _row,
      count_if(_is_new) > 0 as _is_there,
      count_if(not _is_new) > 0 as _was_there,
      max(if(_is_new, _digest, null)) as _digest,
      max(if(not _is_new, _digest, null)) as _old_digest,
      greatest(count(if(_is_new, _digest, null)) - 1, 0) as _repeats,
      coalesce(min(if(_is_new, _digest, null)) <> max(if(_is_new, _digest, null)), false) as _is_conflict
    from extracts
    group by {{ keys }}
  )
  select
    {{ keys }},
    {%- for name in payload %}
    _row.{{ name }} as {{ name }},
    {%- endfor %}
    _extracted_at as _version,
    not _is_there as _is_deleted,
    _repeats - int(_is_conflict) as _duplicates,
    int(_is_conflict) as _conflicts
  from rows
  cross join extract
  where not _is_there
    or (_row is not null and (not _was_there or _old_digest is distinct from _digest))
{%- endmacro %}


{# The newest batch that this run takes, and the one before it that it does not take; no row when a newer one has
   been applied. #}
{% macro _get_extract_pair_sql(model) -%}
  {%- set through = var('through_batch', none) -%}
  select
    max(batch) as _new_batch,
    max(if(not _is_taken, batch, null)) as _old_batch
  from (
    select batch, {{ versioned_collapsing.is_to_take('batch') }} as _is_taken
    from ({{ versioned_collapsing.get_landed_files_sql(model) if execute else 'select 0 as batch' }})
    {%- if through is not none %}
    where batch <= {{ through | int }}
    {%- endif %}
  )
  having max(if(_is_taken, batch, null)) = max(batch)
{%- endmacro %}
