{# The keys from one boundary to the next; the boundaries cut the staged keys into equal parts. #}
{% macro get_chunk_condition_sql(target, options, chunk) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set from_key = versioned_collapsing._get_boundary_sql(target, options, chunk - 1) -%}
  {%- set to_key = versioned_collapsing._get_boundary_sql(target, options, chunk) -%}
  {%- set bounds = [] -%}
  {%- if chunk > 1 -%}
    {%- do bounds.append('tuple(' ~ key ~ ') >= ' ~ from_key) -%}
  {%- endif -%}
  {%- if chunk < options.chunks -%}
    {%- do bounds.append('tuple(' ~ key ~ ') < ' ~ to_key) -%}
  {%- endif -%}
  {{ bounds | join(' and ') or 'true' }}
{%- endmacro %}


{% macro _get_boundary_sql(target, options, chunk) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set change_set = versioned_collapsing.get_helper_relation(target, 'change_set') -%}
  (
    select max(_dbt_boundary)
    from (
      select tuple({{ key }}) as _dbt_boundary, row_number() over (order by {{ key }}) as _dbt_position
      from {{ change_set }}
    )
    where _dbt_position = 1 + intDiv((select count() from {{ change_set }}) * {{ chunk }}, {{ options.chunks }})
  )
{%- endmacro %}
