{# The state and cancel rows of keys with at most one leftover, a state. A pair stays adjacent, so that
   a reader meets one without the other at the edge of a block at most. #}
{% macro get_publish_sql(target, options, columns, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  {%- set names = options.unique_key + (columns.names | reject('in', options.unique_key) | list) -%}
  insert into {{ target }} ({{ get_quoted_csv(names + [options.sign]) }})
  select
    {%- for name in names %}
    if(sign_to_write = -1, stored.{{ adapter.quote(name) }}, changed.{{ adapter.quote(name) }}),
    {%- endfor %}
    sign_to_write
  from (
    select *
    from {{ versioned_collapsing._beside(target, 'changes') }}
    where not _dbt_is_tombstoned
      and ({{ key }}) not in (select {{ key }} from {{ versioned_collapsing._beside(target, 'odd') }})
  ) as changed
  left join {{ versioned_collapsing._beside(target, 'leftovers') }} as stored
    on {{ versioned_collapsing._keys_equal('changed', 'stored', options.unique_key) }}
  array join [toInt8(-1), toInt8(1)] as sign_to_write
  where if(
    sign_to_write = -1,
    stored.{{ sign }} = 1 and (changed.{{ version }} > stored.{{ version }} or (changed._dbt_is_deleted and changed.{{ version }} = stored.{{ version }})),
    not changed._dbt_is_deleted and (stored.{{ sign }} = 0 or changed.{{ version }} > stored.{{ version }})
  )
  {%- if run.is_journal %}
  order by {{ range(1, names | length + 2) | join(', ') }}
  {%- endif %}
  settings join_algorithm = 'full_sorting_merge', join_use_nulls = 0, {{ versioned_collapsing.get_insert_settings(run, 'publish') }}
{%- endmacro %}


{% macro _keys_equal(left, right, unique_key) %}
  {%- set terms = [] -%}
  {%- for name in unique_key -%}
    {%- do terms.append(left ~ '.' ~ adapter.quote(name) ~ ' = ' ~ right ~ '.' ~ adapter.quote(name)) -%}
  {%- endfor -%}
  {%- do return(terms | join(' and ')) -%}
{% endmacro %}
