{# A version that was kept as text, a time in UTC: an hour that a time zone has twice would not say which it is. #}
{% macro get_version_sql(text, options, columns) %}
  {%- set column = columns.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- do return(
      'cast(' ~ versioned_collapsing.quote_literal(text) ~ ', '
      ~ versioned_collapsing.quote_literal(versioned_collapsing.get_utc_type(column.type)) ~ ')'
  ) -%}
{% endmacro %}
