{# The condition that a key lies between two boundaries. The boundaries cut the staged changes into equal parts. #}
{% macro get_chunk_condition_sql(source, options, chunk, change_count) -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set bounds = [] -%}
  {%- if chunk > 1 -%}
    {%- set first = versioned_collapsing.get_boundary_sql(source, options, chunk - 1, change_count) -%}
    {%- do bounds.append(key ~ ' >= ' ~ first) -%}
  {%- endif -%}
  {%- if chunk < options.chunks -%}
    {%- set next = versioned_collapsing.get_boundary_sql(source, options, chunk, change_count) -%}
    {%- do bounds.append(key ~ ' < ' ~ next) -%}
  {%- endif -%}
  {{ bounds | join(' and ') or 'true' }}
{%- endmacro %}


{# The first key after a chunk. The staged changes are stored in the order of the key, so this query sorts nothing. #}
{% macro get_boundary_sql(source, options, chunk, change_count) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  (
    select max(_dbt_boundary)
    from (
      select tuple({{ key }}) as _dbt_boundary
      from {{ source }}
      order by {{ key }}
      limit 1 offset {{ change_count * chunk // options.chunks }}
    )
  )
{%- endmacro %}
