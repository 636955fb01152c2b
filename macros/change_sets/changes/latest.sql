{# The last change of each key. A truncate has no key: the last one is the change of the key null. ClickHouse drops the
   changes below it. #}
{% macro get_latest_changes_sql(lines, key, payload, columns, counts) -%}
  {%- set usable = versioned_collapsing.get_usable_events_sql(lines, key, columns) -%}
  with versions as (
    {{ versioned_collapsing.get_versions_sql('(' ~ usable ~ ')', key, payload, columns) }}
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
