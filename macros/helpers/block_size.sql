{# The rows and bytes that staged parts, and blocks of the journal, have at most. Tests make them small. #}
{% macro get_block_size() %}
  {%- do return({'rows': var('versioned_collapsing_block_rows', 1048576) | int, 'bytes': 67108864}) -%}
{% endmacro %}
