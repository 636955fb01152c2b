{# A column of a change, combined with the same column of the live row. The aggregate functions are those of the fold,
   so that both ignore null and NaN. #}
{% macro get_resolved_column_sql(name, options) -%}
  {%- set changed = '_dbt_folded.' ~ adapter.quote(name) -%}
  {%- set stored = '_dbt_stored.' ~ adapter.quote(name) -%}
  {%- set combined = {
      'latest': changed,
      'coalesce': 'if(isNull(' ~ changed ~ '), ' ~ stored ~ ', ' ~ changed ~ ')',
      'first': 'if(isNull(' ~ stored ~ '), ' ~ changed ~ ', ' ~ stored ~ ')',
      'greatest': "arrayReduce('max', [" ~ stored ~ ', ' ~ changed ~ '])',
      'least': "arrayReduce('min', [" ~ stored ~ ', ' ~ changed ~ '])',
  }[options.combine.get(name, 'latest')] -%}
  if(
    _dbt_folded._dbt_combines and not _dbt_folded._dbt_folded_is_deleted,
    if(has(_dbt_folded._dbt_folded_unset, {{ versioned_collapsing.quote_literal(name) }}), {{ stored }},
        {{ combined }}),
    {{ changed }}
  )
{%- endmacro %}
