{# A change with `_reset` does not build on what is below it. #}
{% macro _reset_marks_sql(options) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  countIf(_dbt_is_reset and not _dbt_is_deleted) over (partition by {{ key }}) > 0 as _dbt_has_reset,
    maxIf({{ adapter.quote(options.version) }}, _dbt_is_reset
        and not _dbt_is_deleted) over (partition by {{ key }}) as _dbt_reset_at
{%- endmacro %}
