{# Whether any key has other uncollapsed rows than one state row, given how many keys have any. #}
{% macro has_torn_keys(target, options, matched) %}
  {%- set query -%}
    select count() as _dbt_n, countIf({{ adapter.quote(options.sign) }} < 0) as _dbt_cancels
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target, options) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set uncollapsed = run_query(query).rows[0] -%}
  {%- do return(uncollapsed['_dbt_n'] | int > matched or uncollapsed['_dbt_cancels'] | int > 0) -%}
{% endmacro %}
