{# A chain of CTEs, each with one flag more than the one before. `steps` has the flags in order, each with its
   expression, which may name earlier flags. `source` is what the first CTE reads, and `name` is the name of the last
   one. #}
{% macro get_steps_sql(source, steps, name) -%}
  {%- for flag, sql in steps.items() -%}
  {{ flag }}_known as (
    select *, {{ sql }} as {{ flag }} from {{ source if loop.first else loop.previtem[0] ~ '_known' }}
  ),
  {% endfor -%}
  {{ name }} as (
    select * from {{ (steps | list | last) ~ '_known' }}
  )
{%- endmacro %}
