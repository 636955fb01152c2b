{# A version that was kept as text. A time is kept in UTC: in other time zones, an hour can occur twice. #}
{% macro get_version_sql(text, options, columns) %}
  {%- set column = columns.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- do return(
      'cast(' ~ versioned_collapsing.quote_literal(text) ~ ', '
      ~ versioned_collapsing.quote_literal(versioned_collapsing.get_utc_type(column.type)) ~ ')'
  ) -%}
{% endmacro %}
