{# The change set between two full extracts, each of which is a batch: the newest one that this run takes, and the
   stored one. Rows that are new, or that differ in a column other than `version`, are upserts. Rows that are gone are
   deletes. All have the version of the new extract. If a newer extract has been applied already, nothing changes.

   The stored extract is the newest one that a target has applied, and targets may have different ones. A row that
   differs from any of these extracts is a change. A target that already has the row counts the change as a duplicate.
   validate_stored_extracts has checked that these extracts are still there.

   A line that cannot be used leaves its row as it is stored. But if its key cannot be read, the line stops the model:
   it could be any row that is missing, and that row would be deleted. The model also stops for an extract without rows,
   for one that lacks more than the share `max_deletes` of the stored rows, and for one that changes rows at a version
   that is not above the stored one. By default, a tenth may be gone, and of a small table ten rows or half. #}
{% macro snapshot_changes(events, key, version, max_deletes=none) -%}
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
    int(_lines = 0) as _synthetic
  from rows
  cross join new_extract
  where _lines = 0
    or (_row is not null and not _is_stored)
{%- endmacro %}

{% macro validate_snapshot_changes(model, events, key, version, columns, max_deletes) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key}) -%}
  {%- set share = var('max_deletes', max_deletes) -%}
  {%- if share is not none and (share is not number or share is boolean or share < 0 or share > 1) -%}
    {%- do problems.append("max_deletes is " ~ share ~ "; it takes a share from 0 to 1.") -%}
  {%- endif -%}
  {%- if columns and not problems -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_batch', '_reason'] + ([] if version == '_batch' else [version])
    )) -%}
    {%- if '_unset' in columns -%}
      {%- do problems.append(
          events ~ " has a column _unset, so its rows can be incomplete. An extract needs complete rows. Remove "
          ~ "missing_fields='keep'."
      ) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'snapshot_changes') -%}
{% endmacro %}

{# For each target of a change set of extracts, the extract that it has stored, which is the newest one it has applied:
   its batch, and the hash of the batch at that time. Both are none for a target that has no extract, or that is being
   rebuilt. #}
{% macro read_stored_extracts(model) %}
  {%- set stored = [] -%}
  {%- for target, applied in versioned_collapsing._read_applied_by_target(model).items() -%}
    {%- set batch = none if should_full_refresh() else applied | max -%}
    {%- set batch = batch if batch is number else none -%}
    {%- do stored.append({'target': target, 'batch': batch, 'hash': applied.get(batch)}) -%}
  {%- endfor -%}
  {%- do return(stored) -%}
{% endmacro %}

{# The batches that each target has applied, with the hash that they had then. #}
{% macro _read_applied_by_target(model) %}
  {%- if adapter.query_on is not defined -%}
    {%- do return({model.unique_id: var('applied_batches', {}).get(model.name, {})}) -%}
  {%- endif -%}
  {%- set by_target = {} -%}
  {%- for node in versioned_collapsing.get_targets(model) -%}
    {%- do by_target.update({node.unique_id: versioned_collapsing.read_batches_of_target(node).applied}) -%}
  {%- endfor -%}
  {%- do return(by_target) -%}
{% endmacro %}

{# The batch of the new extract, the newest that this run takes, or null if each target has it or a newer one; and the
   batches to compare with. In a unit test, which takes no batches, the newest is compared with the one before it. #}
{% macro get_extract_pair_sql(events, batches, is_new_to_a_target) -%}
  {%- if this is none -%}
  select max(_batch) as _new_batch, collect_set(_batch) as _batches
  from (select _batch, dense_rank() over (order by _batch desc) as _place from {{ events }})
  where _place <= 2
  {%- else -%}
  {%- set above = '>=' if is_new_to_a_target or batches | length > 1 else '>' -%}
  {%- set newest = 'if(max(batch) ' ~ above ~ ' ' ~ batches[-1] ~ ', max(batch), null)' if batches else 'max(batch)' -%}
  select _new_batch, if(_new_batch is null, array(), array({{ (['_new_batch'] + batches) | join(', ') }})) as _batches
  from (
    select {{ newest }} as _new_batch
    from {{ versioned_collapsing.get_change_set_manifest_relation(this) }}
  )
  {%- endif -%}
{%- endmacro %}

{# Whether every target has the row as it is in the new extract. #}
{% macro get_is_stored_sql(batches, is_new_to_a_target) %}
  {%- if this is none -%}
    {%- do return('max(_digest) filter (where not _is_new) <=> max(_digest) filter (where _is_new)') -%}
  {%- elif is_new_to_a_target -%}
    {%- do return('false') -%}
  {%- endif -%}
  {%- do return('(' ~ versioned_collapsing.get_texts(
      'max(_digest) filter (where _batch = {}) <=> max(_digest) filter (where _is_new)', batches
  ) | join(' and ') ~ ')') -%}
{% endmacro %}

{# The version of the new extract. Raises an error if the extract cannot be used. #}
{% macro get_extract_version_sql(key, max_deletes) -%}
  {%- set share = var('max_deletes', max_deletes) -%}
  {%- set stored = 'count_if(_was_there)' -%}
  {%- set allowed = 'greatest(0.1 * ' ~ stored ~ ', least(10, 0.5 * ' ~ stored ~ '))' if share is none
      else share ~ ' * ' ~ stored -%}
  select
    max(_new_batch) as _new_batch,
    max(_old_version) as _stored_version,
    case
      when max(_new_batch) is null then null
      when coalesce(sum(_lines), 0) = 0 then raise_error(concat(
        'Extract ', max(_new_batch), ' has no rows, so it would delete every row. Remove it, or set through_batch.'
      ))
      when count_if(_lines > 0 and ({{ key | join(' is null or ') }} is null)) > 0 then raise_error(concat(
        'Extract ', max(_new_batch), ' has lines whose key cannot be read, so the deleted rows are unknown. '
        'These lines are in the quarantine. Correct them, or remove the extract.'
      ))
      when max(_new_version) is null then raise_error(concat(
        'Extract ', max(_new_batch), ' has no usable line. '
        'Its lines are in the quarantine. Correct them, or remove the extract.'
      ))
      when count_if(_was_there and _lines = 0) > {{ allowed }} then raise_error(concat(
        'Extract ', max(_new_batch), ' lacks ', count_if(_was_there and _lines = 0), ' of the ', {{ stored }},
        ' stored rows, a greater share than max_deletes ({{ 0.1 if share is none else share }}). '
        'If the extract is incomplete, remove it. '
        'If the rows are gone at the source, accept it: dbt run --select {{ model.name }}+ --vars \'{max_deletes: 1}\''
      ))
      else max(_new_version)
    end as _extracted_at
  from pair
  left join rows on true
{%- endmacro %}

{# Changes are found by comparison with the stored extract. So this extract must still be in the landing zone, and must
   not have changed. #}
{% macro validate_stored_extracts(model, stored, landed, pending) %}
  {%- set batches = stored | map(attribute='batch') | reject('none') | list -%}
  {%- if not pending or not batches -%}{%- do return(none) -%}{%- endif -%}
  {%- set newest = pending | max -%}
  {%- set problems = [] -%}
  {%- set rebuild = "build both again from extract " ~ newest ~ ": dbt run --full-refresh --select " ~ model.name
      ~ "+ --vars '{rebuild_from_batch: " ~ newest ~ "}'" -%}
  {%- for extract in stored if extract.batch is not none and newest >= extract.batch -%}
    {%- set place = "extract " ~ extract.batch ~ ", which is stored in " ~ extract.target.split('.')[-1] ~ ", " -%}
    {%- if extract.batch not in landed -%}
      {%- do problems.append(
          place ~ "is no longer in the landing zone, so the changes since then are unknown. Put it back, or " ~ rebuild
      ) -%}
    {%- elif landed[extract.batch].hash != extract.hash -%}
      {%- do problems.append(
          place ~ "has changed since it was applied, so the stored rows are unknown. Put it back as it was and land "
          ~ "the corrected extract under a higher number, or " ~ rebuild
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set is_new_to_some = stored | selectattr('batch', 'none') | list or batches | select('lt', newest) | list -%}
  {%- if newest < batches | max and is_new_to_some -%}
    {%- do problems.append(
        "extract " ~ newest ~ " is new to some targets, but others already have extract " ~ (batches | max)
        ~ ". Remove through_batch to take that extract too, or " ~ rebuild
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'snapshot_changes') -%}
{% endmacro %}
