{# One change per key, if changes are combined. The policy of each column combines the upserts above the last delete of
   the key. Upserts that lack the column (`_unset`) do not count. A column that all of them lack stays unset. `_reset`
   says that a delete or a truncate lies below: then the stored row is not combined with them. #}
{% macro get_folded_changes_sql(lines, key, payload, columns, combine, counts) -%}
  {%- set unset = ['_unset'] if '_unset' in columns else [] -%}
  {%- set truncated_at = ['_truncated_at'] if '_is_truncate' in columns else [] -%}
  {%- set keys = key | join(', ') -%}
  {%- set usable = versioned_collapsing.get_events_above_truncate_sql(lines, key, columns) if truncated_at
      else versioned_collapsing.get_usable_events_sql(lines, key, columns) -%}
  with events as (
    {{ usable }}
  ),
  versions as (
    {{ versioned_collapsing.get_versions_sql('events', key, payload + unset + truncated_at, columns) }}
  ),
  marked as (
    select
      *,
      max(if(_change._is_deleted, _version, null)) over (partition by {{ keys }}) as _deleted_at,
      {%- if versioned_collapsing.has_line_order(columns) %}
      max(if(_is_replaced, _version, null)) over (partition by {{ keys }}) as _replaced_at
      {%- else %}
      null as _replaced_at
      {%- endif %}
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
        {%- set is_set = versioned_collapsing._get_is_set_sql(name, unset) %}
        if(count_if(not {{ is_set }}) = count(*), '{{ name }}', null){{ ',' if not loop.last }}
        {%- endfor %}
      ),
      name -> name is not null
    ) as _unset,
    {%- endif %}
    not max_by(_change._is_deleted, _version) and (
      max(coalesce(_deleted_at, _replaced_at)) is not null
      {{- ' or max(_change._truncated_at) is not null' if truncated_at }}
    ) as _reset,
    {%- if truncated_at %}
    {{ key[0] }} is null as _is_truncate,
    {%- endif %}
    {{ versioned_collapsing._get_counts_sql(counts, columns) }}
  from marked
  group by {{ keys }}
{%- endmacro %}
