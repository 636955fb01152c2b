{# Settings that can leave rows out, or return old ones, without an error. Each has the value at which it does not. #}
{% macro get_cutting_settings() %}
  {%- set settings = {
      'additional_result_filter': "''",
      'additional_table_filters': "'{}'",
      'join_default_strictness': "'ALL'",
      'limit': 0,
      'offset': 0,
      'use_query_cache': 0,
  } -%}
  {%- for what in ('distinct', 'group_by', 'join', 'read', 'result', 'set', 'sort', 'timeout', 'transfer') -%}
    {%- do settings.update({what ~ '_overflow_mode': "'throw'"}) -%}
  {%- endfor -%}
  {%- do settings.update({'read_overflow_mode_leaf': "'throw'", 'timeout_overflow_mode_leaf': "'throw'"}) -%}
  {%- do return(settings) -%}
{% endmacro %}
