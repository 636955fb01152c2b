{# A version that was kept as text, a time in UTC: an hour that a time zone has twice would not say which it is. #}
{% macro get_version_sql(text, options, columns) %}
  {%- set column = columns.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- do return(
      'cast(' ~ versioned_collapsing.quote_literal(text) ~ ', '
      ~ versioned_collapsing.quote_literal(versioned_collapsing._type_in_utc(column.type)) ~ ')'
  ) -%}
{% endmacro %}


{% macro _type_in_utc(type) %}
  {%- set parts = modules.re.match('DateTime64\\((\\d)', type) -%}
  {%- do return(
      "DateTime64(" ~ parts.group(1) ~ ", 'UTC')" if parts else "DateTime('UTC')" if type.startswith('DateTime')
      else type
  ) -%}
{% endmacro %}
