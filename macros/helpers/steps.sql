{# CTEs one after the other, each with one flag more than the one before. `steps` has the flags in their order, each
   with the expression for it, which may name those before; `source` is where they begin, `name` what the last one is
   called. #}
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
