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
      _batch = (select new_batch from pair) as is_new,
      if(_reason is null, struct({{ payload | join(', ') }}), null) as row,
      if(_reason is null, xxhash64({{ payload | join(', ') or '1' }}), null) as digest
    from {{ events }}
    where (_batch = (select new_batch from pair) or _batch = (select old_batch from pair))
      and (_version is not null or _reason is not null)
  ),
  extract as (
    select
      pair.new_batch,
      case
        when count(is_new) = 0 then raise_error(concat('Extract ', new_batch, ' has no rows, which would delete every row. Take it away, or set through_batch.'))
        when count_if(is_new and ({{ key | join(' is null or ') }} is null)) > 0 then raise_error(concat(
          'Extract ', new_batch, ' has lines without a readable key: which rows are gone cannot be told. They are in the quarantine; correct them, or take the extract away.'
        ))
        else max(_version)
      end as extracted_at
    from pair
    left join extracts on is_new
    group by pair.new_batch
  ),
  rows as (
    select
      {{ keys }},
      max(if(is_new, row, null)) as row,
      count_if(is_new) > 0 as is_there,
      count_if(not is_new) > 0 as was_there,
      max(if(is_new, digest, null)) as digest,
      max(if(not is_new, digest, null)) as old_digest,
      greatest(count(if(is_new, digest, null)) - 1, 0) as repeats,
      coalesce(min(if(is_new, digest, null)) <> max(if(is_new, digest, null)), false) as is_conflict
    from extracts
    group by {{ keys }}
  )
  select
    {{ keys }},
    {%- for name in payload %}
    row.{{ name }} as {{ name }},
    {%- endfor %}
    extracted_at as _version,
    not is_there as _is_deleted,
    repeats - int(is_conflict) as _duplicates,
    int(is_conflict) as _conflicts
  from rows
  cross join extract
  where not is_there
    or (row is not null and (not was_there or old_digest is distinct from digest))
{%- endmacro %}


{# The newest batch that this run takes, and the one before it that it does not take; no row when a newer one has
   been applied. #}
{% macro _get_extract_pair_sql(model) -%}
  {%- set through = var('through_batch', none) -%}
  select
    max(batch) as new_batch,
    max(if(not is_taken, batch, null)) as old_batch
  from (
    select batch, {{ versioned_collapsing.is_to_take('batch') }} as is_taken
    from ({{ versioned_collapsing.get_landed_files_sql(model) if execute else 'select 0 as batch' }})
    {%- if through is not none %}
    where batch <= {{ through | int }}
    {%- endif %}
  )
  having max(if(is_taken, batch, null)) = max(batch)
{%- endmacro %}
