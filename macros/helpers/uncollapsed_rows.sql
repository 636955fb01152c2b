{# The uncollapsed rows, to select from. Nothing collapses without a cancel row: FINAL would read them half as fast. #}
{% macro get_uncollapsed_rows_sql(target, options) %}
  {%- set uncollapsed = versioned_collapsing.get_helper_relation(target, 'uncollapsed') -%}
  {%- set query = 'select countIf(' ~ adapter.quote(options.sign) ~ ' < 0) as _dbt_n from ' ~ uncollapsed ~ ' '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- do return(uncollapsed ~ (' final' if run_query(query).rows[0]['_dbt_n'] | int else '')) -%}
{% endmacro %}
