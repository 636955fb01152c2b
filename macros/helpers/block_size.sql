{# The maximum number of rows and bytes of a staged part, and of a block of the journal. Tests make them small. #}
{% macro get_block_size() %}
  {%- do return({'rows': var('versioned_collapsing_block_rows', 1048576) | int, 'bytes': 67108864}) -%}
{% endmacro %}
