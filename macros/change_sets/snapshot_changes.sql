{# The change set between two full extracts, each a batch: the newest that this run takes, and the one that is stored.
   Rows that are new or differ, but for the column `version`, are upserts; rows that are gone are deletes; all have the
   new extract's version. When a newer extract has been applied already, nothing changes.

   What is stored is the newest extract that a target has applied. Targets may differ in it: what differs from any of
   theirs is a change, and is a duplicate where it is none. validate_stored_extracts has seen that they are still there.

   A broken line leaves its row as it is stored. One whose key cannot be read could be any row that is missing, and
   would delete it: it stops the model. So do an extract without rows, one that lacks more than the share `max_deletes`
   of what is stored, and one that changes rows at a version that is not above the stored one. #}
{% macro snapshot_changes(events, key, version, max_deletes=0.5) -%}
  {%- do config(compares_extracts=true) -%}
  {%- set columns = versioned_collapsing.get_column_types(events) -%}
  {%- do versioned_collapsing.validate_snapshot_changes(model, events, key, version, columns, max_deletes) -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) | reject('equalto', version) | list -%}
  {%- set keys = key | map('string') | join(', ') -%}
  {%- set stored = versioned_collapsing.read_stored_extracts(model) if execute and this is not none else [] -%}
  {%- set batches = stored | map(attribute='batch') | reject('none') | unique | sort -%}
  {%- set is_new_to_a_target = batches | length == 0 or none in stored | map(attribute='batch') | list -%}
  with pair as (
    {{ versioned_collapsing._get_extract_pair_sql(events, batches, is_new_to_a_target) }}
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
      {{ versioned_collapsing._get_is_stored_sql(batches, is_new_to_a_target) }} as _is_stored,
      max(if(_digest is null, null, _version)) filter (where _is_new) as _new_version,
      max(if(_digest is null, null, _version)) filter (where not _is_new) as _old_version
    from extracts
    group by {{ keys }}
  ),
  new_extract as (
    {{ versioned_collapsing._get_extract_version_sql(key, max_deletes) }}
  )
  select
    {{ keys }},
    {%- for name in payload %}
    _row.{{ name }} as {{ name }},
    {%- endfor %}
    if(_stored_version is null or _extracted_at > _stored_version, _extracted_at, raise_error(concat(
      'Extract ', _new_batch, ' has changes at version ', _extracted_at, ', which is not above ', _stored_version,
      ', that of the extract that is stored: they would be lost. Correct its {{ version }}. If that of the stored one is wrong, '
      'build both anew: dbt run --full-refresh --select {{ model.name }}+ --vars \'{rebuild_from_batch: ', _new_batch, '}\''
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


{# The batch of the new extract, the newest that this run takes, null when each target has it or a newer one; and the
   batches to compare. In a unit test, which takes no batches, the newest is compared with the one before it. #}
{% macro _get_extract_pair_sql(events, batches, is_new_to_a_target) -%}
  {%- if this is none -%}
  select max(_batch) as _new_batch, collect_set(_batch) as _batches
  from (select _batch, dense_rank() over (order by _batch desc) as _place from {{ events }})
  where _place <= 2
  {%- else -%}
  {%- set is_behind = is_new_to_a_target or batches | length > 1 -%}
  select _new_batch, if(_new_batch is null, array(), array({{ (['_new_batch'] + batches) | join(', ') }})) as _batches
  from (
    select {{ 'if(max(batch) >' ~ ('=' if is_behind else '') ~ ' ' ~ batches[-1] ~ ', max(batch), null)' if batches else 'max(batch)' }} as _new_batch
    from {{ versioned_collapsing.get_change_set_manifest_relation(this) }}
  )
  {%- endif -%}
{%- endmacro %}


{# Whether every target has the row as it is in the new extract. #}
{% macro _get_is_stored_sql(batches, is_new_to_a_target) %}
  {%- if this is none -%}
    {%- do return('max(_digest) filter (where not _is_new) <=> max(_digest) filter (where _is_new)') -%}
  {%- elif is_new_to_a_target -%}
    {%- do return('false') -%}
  {%- endif -%}
  {%- set conditions = [] -%}
  {%- for batch in batches -%}
    {%- do conditions.append('max(_digest) filter (where _batch = ' ~ batch ~ ') <=> max(_digest) filter (where _is_new)') -%}
  {%- endfor -%}
  {%- do return('(' ~ conditions | join(' and ') ~ ')') -%}
{% endmacro %}


{# The version of the new extract, and what stops the model. #}
{% macro _get_extract_version_sql(key, max_deletes) -%}
  select
    max(_new_batch) as _new_batch,
    max(_old_version) as _stored_version,
    case
      when max(_new_batch) is null then null
      when coalesce(sum(_lines), 0) = 0 then raise_error(concat(
        'Extract ', max(_new_batch), ' has no rows, which would delete every row. Take it away, or set through_batch.'
      ))
      when count_if(_lines > 0 and ({{ key | join(' is null or ') }} is null)) > 0 then raise_error(concat(
        'Extract ', max(_new_batch), ' has lines without a readable key: which rows are gone cannot be told. '
        'They are in the quarantine; correct them, or take the extract away.'
      ))
      when max(_new_version) is null then raise_error(concat(
        'Extract ', max(_new_batch), ' has no usable line. '
        'They are in the quarantine; correct them, or take the extract away.'
      ))
      when count_if(_was_there and _lines = 0) > {{ var('max_deletes', max_deletes) }} * count_if(_was_there) then raise_error(concat(
        'Extract ', max(_new_batch), ' lacks ', count_if(_was_there and _lines = 0), ' of the ', count_if(_was_there),
        ' rows that are stored, a greater share than max_deletes, {{ var('max_deletes', max_deletes) }}. If it is not whole, take it away. '
        'If the rows are gone, let it through: dbt run --select {{ model.name }}+ --vars \'{max_deletes: 1}\''
      ))
      else max(_new_version)
    end as _extracted_at
  from pair
  left join rows on true
{%- endmacro %}


{# All that is wrong with the arguments, as one error. #}
{% macro validate_snapshot_changes(model, events, key, version, columns, max_deletes) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key}) -%}
  {%- set share = var('max_deletes', max_deletes) -%}
  {%- if share is not number or share is boolean or share < 0 or share > 1 -%}
    {%- do problems.append("max_deletes: is " ~ share ~ "; it takes a share, from 0 to 1.") -%}
  {%- endif -%}
  {%- if columns and not problems -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_batch', '_reason'] + ([] if version == '_batch' else [version])
    )) -%}
    {%- if '_unset' in columns -%}
      {%- do problems.append(
          events ~ " has a column _unset: its rows are not whole, and an extract's are. Leave out missing_fields='keep'."
      ) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'snapshot_changes') -%}
{% endmacro %}
