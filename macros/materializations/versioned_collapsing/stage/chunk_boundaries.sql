{# The keys from one boundary to the next; the boundaries cut the staged keys into equal parts. #}
{% macro get_chunk_condition_sql(change_set, options, chunk) -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set bounds = [] -%}
  {%- if chunk > 1 -%}
    {%- do bounds.append(key ~ ' >= ' ~ versioned_collapsing.get_boundary_sql(change_set, options, chunk - 1)) -%}
  {%- endif -%}
  {%- if chunk < options.chunks -%}
    {%- do bounds.append(key ~ ' < ' ~ versioned_collapsing.get_boundary_sql(change_set, options, chunk)) -%}
  {%- endif -%}
  {{ bounds | join(' and ') or 'true' }}
{%- endmacro %}


{# The first key after a chunk. #}
{% macro get_boundary_sql(change_set, options, chunk) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  (
    select max(_dbt_boundary)
    from (
      select tuple({{ key }}) as _dbt_boundary, row_number() over (order by {{ key }}) as _dbt_position
      from {{ change_set }}
    )
    where _dbt_position = 1 + intDiv((select count() from {{ change_set }}) * {{ chunk }}, {{ options.chunks }})
  )
{%- endmacro %}
