{# Keeps, for each key, the change with the highest version among the batches that this run takes. At equal
   version a delete wins over an upsert. `_duplicates` counts the events of the key that repeat another,
   `_conflicts` the versions that came with more than one payload, `_superseded` those below the highest, and `_derived`
   the deletes among all these that are of no event but of one that changed the key.

   Where changes do not replace the row but are combined with it, as `combine` says or where they name columns in
   `_unset`, all changes of the key since its last delete are folded into one.

   All changes of a key are brought together once and sorted, and everything is aggregated on the way: neither the
   number of keys nor that of the changes of one is bounded by memory. #}
{% macro one_change_per_key(events, key, combine={}, counts=['_duplicates', '_conflicts', '_superseded']) -%}
  {%- set columns = versioned_collapsing.get_column_types(events) -%}
  {%- do versioned_collapsing.validate_one_change_per_key(model, events, key, columns, combine, counts) -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) -%}
  {%- if combine or '_unset' in columns -%}
    {{ versioned_collapsing.get_folded_changes_sql(events, key, payload, columns, combine, counts) }}
  {%- else -%}
    {{ versioned_collapsing.get_latest_changes_sql(events, key, payload, columns, counts) }}
  {%- endif -%}
{%- endmacro %}


{# The Spark types of a staging model's columns, by name; none while dbt parses, or where the model is not built. In a
   unit test the given rows stand for the model under a name of dbt's own, and the model must be in the change set's
   schema. #}
{% macro get_column_types(events) %}
  {%- set types = {} -%}
  {%- if execute -%}
    {%- set built = api.Relation.create(schema=events.schema or model.schema, identifier=events.identifier | replace('__dbt__cte__', '')) -%}
    {%- for column in adapter.get_columns_in_relation(built) -%}
      {%- do types.update({column.name: column.dtype}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(types) -%}
{% endmacro %}


{# Of these the row's own, but for the key: the others begin with an underscore. #}
{% macro get_payload(columns, key) %}
  {%- set payload = [] -%}
  {%- for name in columns if name not in key and not name.startswith('_') -%}
    {%- do payload.append(name) -%}
  {%- endfor -%}
  {%- do return(payload) -%}
{% endmacro %}


{# All that is wrong with the arguments, as one error; `columns` is empty while the staging model is not built. #}
{% macro validate_one_change_per_key(model, events, key, columns, combine, counts) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key, 'counts': counts}, ['counts'])
      + versioned_collapsing.get_mapping_problems({'combine': combine}) -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'one_change_per_key') -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) -%}
  {%- if columns -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_is_deleted', '_batch', '_reason']
    )) -%}
  {%- endif -%}
  {%- set policies = ['latest', 'greatest', 'least', 'coalesce', 'first'] -%}
  {%- for column, policy in combine.items() -%}
    {%- if columns and column not in payload -%}
      {%- do problems.append("combine: names " ~ column ~ ", which is no column of the payload.") -%}
    {%- endif -%}
    {%- if policy not in policies -%}
      {%- do problems.append("combine: " ~ column ~ " has '" ~ policy ~ "'; a column takes '" ~ policies | join("', '") ~ "'.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set unknown = counts | reject('in', ['_duplicates', '_conflicts', '_superseded']) | list -%}
  {%- if unknown -%}
    {%- do problems.append("counts: names " ~ unknown ~ "; it takes '_duplicates', '_conflicts' and '_superseded'.") -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'one_change_per_key') -%}
{% endmacro %}


{# A truncate has no key: the last one is the change of the key null. ClickHouse drops what it is above of. #}
{% macro get_latest_changes_sql(events, key, payload, columns, counts) -%}
  with versions as (
    {{ versioned_collapsing.get_versions_sql('(' ~ versioned_collapsing.get_usable_events_sql(events, key, columns) ~ ')', key, payload, columns) }}
  ),
  latest as (
    select
      {{ key | join(', ') }},
      max_by(_change, _version) as _change,
      max(_version) as _version,
      {{ versioned_collapsing._get_counts_sql(counts, columns) }}
    from versions
    group by {{ key | join(', ') }}
  )
  select
    {{ key | join(', ') }},
    {%- for name in payload %}
    _change.{{ name }} as {{ name }},
    {%- endfor %}
    _version,
    _change._is_deleted as _is_deleted,
    {%- if '_is_truncate' in columns %}
    {{ key[0] }} is null as _is_truncate,
    {%- endif %}
    {{ (counts + versioned_collapsing._get_derived_count(columns)) | join(', ') }}
  from latest
{%- endmacro %}


{# The usable events of the batches that this run takes, one row for each version of a key. The rows are sent by key
   alone, so that what is grouped by key next finds them where and in the order in which they are. `rows` is where
   they come from, `kept` what of them is kept beside the key. #}
{% macro get_versions_sql(rows, key, kept, types) -%}
  select
    {{ key | join(', ') }},
    _version,
    max(struct({{ (['_is_deleted'] + kept) | join(', ') }})) as _change,
    count(*) - 1 as _repeats,
    coalesce(min(_digest) <> max(_digest), false) as _is_conflict
    {%- if '_key_before' in types %},
    count_if(_is_left) as _lefts
    {%- endif %}
  from (
    select
      {{ (key + kept) | join(', ') }},
      {%- if '_key_before' in types %}
      _is_left,
      {%- endif %}
      _version,
      _is_deleted,
      if(_is_deleted, null, {{ versioned_collapsing.get_digest_sql(kept, types) }}) as _digest
    from {{ rows }}
    distribute by {{ key | join(', ') }}
  )
  group by {{ key | join(', ') }}, _version
{%- endmacro %}


{# The usable events of the batches that this run takes. An update that changes the key is two: it deletes the row that
   was there by the old one. #}
{% macro get_usable_events_sql(events, key, columns) -%}
  {%- if '_key_before' not in columns %}
  select *
  from {{ events }}
  {%- else %}
  select
    {%- for name in columns %}
    {%- set value = 'if(_is_left, _key_before.' ~ name ~ ', ' ~ name ~ ')' if name in key
        else '_is_left or _is_deleted' if name == '_is_deleted' else name %}
    {{ value }} as {{ name }},
    {%- endfor %}
    _is_left
  from {{ events }}
  lateral view explode(if(_key_before is null, array(false), array(false, true))) as _is_left
  {%- endif %}
  where _reason is null
    and _version is not null
    and {{ versioned_collapsing.is_to_take('_batch') }}
{%- endmacro %}


{# Changes that no event is are counted where there are any. #}
{% macro _get_derived_count(columns) %}
  {%- do return(['_derived'] if '_key_before' in columns else []) -%}
{% endmacro %}


{% macro _get_counts_sql(counts, columns) %}
  {%- set expressions = {
      '_duplicates': 'sum(_repeats) - count_if(_is_conflict)',
      '_conflicts': 'count_if(_is_conflict)',
      '_superseded': 'count(*) - 1',
      '_derived': 'sum(_lefts)',
  } -%}
  {%- set selected = [] -%}
  {%- for name in counts + versioned_collapsing._get_derived_count(columns) -%}
    {%- do selected.append(expressions[name] ~ ' as ' ~ name) -%}
  {%- endfor -%}
  {%- do return(selected | join(', ')) -%}
{% endmacro %}
