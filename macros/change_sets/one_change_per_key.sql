{# Keeps, for each key, the change with the highest version among the batches that this run takes. At equal
   version a delete wins over an upsert. `_duplicates` counts the events of the key that repeat another,
   `_conflicts` the versions that came with more than one payload. #}
{% macro one_change_per_key(events, key) -%}
  {%- set payload = [] -%}
  {%- if execute -%}
    {%- for column in adapter.get_columns_in_relation(api.Relation.create(schema=events.schema, identifier=events.identifier)) if column.name not in key and not column.name.startswith('_') -%}
      {%- do payload.append(column.name) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- set upsert = 'if(_is_deleted, null, struct(' ~ payload | join(', ') ~ '))' -%}
  with events as (
    select {{ (key + payload) | join(', ') }}, _version, _is_deleted
    from {{ events }}
    where _reason is null
      and _version is not null
      and {{ versioned_collapsing.is_to_take('_batch') }}
  ),
  versions as (
    select
      {{ key | join(', ') }},
      _version,
      max(struct({{ (['_is_deleted'] + payload) | join(', ') }})) as change,
      count(*) - 1 as repeats,
      min({{ upsert }}) <> max({{ upsert }}) as is_conflict
    from events
    group by {{ key | join(', ') }}, _version
  ),
  latest as (
    select
      {{ key | join(', ') }},
      max_by(change, _version) as change,
      max(_version) as _version,
      sum(repeats) - count_if(is_conflict) as _duplicates,
      count_if(is_conflict) as _conflicts
    from versions
    group by {{ key | join(', ') }}
  )
  select
    {{ key | join(', ') }},
    {%- for name in payload %}
    change.{{ name }} as {{ name }},
    {%- endfor %}
    _version,
    change._is_deleted as _is_deleted,
    _duplicates,
    _conflicts
  from latest
{%- endmacro %}
