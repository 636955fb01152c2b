{# One change a key where changes are combined. Of each column, the upserts above the last delete of the key are
   combined as its policy says, without those that do not have it (`_unset`). What none of them has stays unset.
   `_reset` says that a delete or a truncate lies below: the stored row is then no part of it. #}
{% macro get_folded_changes_sql(events, key, payload, columns, combine, counts) -%}
  {%- set unset = ['_unset'] if '_unset' in columns else [] -%}
  {%- set truncated_at = ['_truncated_at'] if '_is_truncate' in columns else [] -%}
  {%- set keys = key | join(', ') -%}
  with events as (
    {{ versioned_collapsing.get_events_above_truncate_sql(events, key, columns) if truncated_at else versioned_collapsing.get_usable_events_sql(events, key, columns) }}
  ),
  versions as (
    {{ versioned_collapsing.get_versions_sql('events', key, payload + unset + truncated_at, columns) }}
  ),
  marked as (
    select
      *,
      max(if(_change._is_deleted, _version, null)) over (partition by {{ keys }}) as _deleted_at
    from versions
  )
  select
    {{ keys }},
    {%- for name in payload %}
    {{ versioned_collapsing._get_folded_column_sql(name, combine.get(name, 'latest'), unset) }} as {{ name }},
    {%- endfor %}
    max(_version) as _version,
    max_by(_change._is_deleted, _version) as _is_deleted,
    {%- if unset %}
    filter(
      array(
        {%- for name in payload %}
        if(count_if(not {{ versioned_collapsing._get_is_set_sql(name, unset) }}) = count(*), '{{ name }}', null){{ ',' if not loop.last }}
        {%- endfor %}
      ),
      name -> name is not null
    ) as _unset,
    {%- endif %}
    not max_by(_change._is_deleted, _version) and (
      max(_deleted_at) is not null{{ ' or max(_change._truncated_at) is not null' if truncated_at }}
    ) as _reset,
    {%- if truncated_at %}
    {{ key[0] }} is null as _is_truncate,
    {%- endif %}
    {{ versioned_collapsing._get_counts_sql(counts, columns) }}
  from marked
  group by {{ keys }}
{%- endmacro %}


{# The usable events above the last truncate. Those at or below it become the truncate's: they are counted with it, and
   their rows are no part of any fold. Its text is looked for before a line is parsed. #}
{% macro get_events_above_truncate_sql(events, key, columns) -%}
  {%- set is_below = '(_version <= _truncated_at and not _is_truncate)' -%}
  select
    {%- for name in columns %}
    {%- set value = 'if(' ~ is_below ~ ', null, ' ~ name ~ ')' if name in key
        else '_is_deleted or coalesce(' ~ is_below ~ ', false)' if name == '_is_deleted' else name %}
    {{ value }} as {{ name }},
    {%- endfor %}
    {%- if '_key_before' in columns %}
    _is_left,
    {%- endif %}
    _truncated_at
  from ({{ versioned_collapsing.get_usable_events_sql(events, key, columns) }})
  cross join (
    select max(_version) as _truncated_at
    from {{ events }}
    where _reason is null
      and {{ versioned_collapsing.is_to_take('_batch') }}
      and _is_truncate and _raw_line like '%"t"%'
  )
{%- endmacro %}


{% macro _get_folded_column_sql(name, policy, unset) %}
  {%- set column = '_change.' ~ name -%}
  {%- set is_set = versioned_collapsing._get_is_set_sql(name, unset) -%}
  {%- set aggregate = {
      'latest': 'max_by(' ~ column ~ ', _version)',
      'greatest': 'max(' ~ column ~ ')',
      'least': 'min(' ~ column ~ ')',
      'coalesce': 'max_by(' ~ column ~ ', _version)',
      'first': 'min_by(' ~ column ~ ', _version)',
  }[policy] -%}
  {%- set has_value = ' and ' ~ column ~ ' is not null' if policy in ('coalesce', 'first') else '' -%}
  {%- do return(aggregate ~ ' filter (where ' ~ is_set ~ has_value ~ ')') -%}
{% endmacro %}


{% macro _get_is_set_sql(name, unset) %}
  {%- set is_set = 'not _change._is_deleted and (_deleted_at is null or _version > _deleted_at)' -%}
  {%- do return('(' ~ is_set ~ (" and not array_contains(_change._unset, '" ~ name ~ "')" if unset else '') ~ ')') -%}
{% endmacro %}
