{# What Debezium writes for a value that the database did not send, for each kind of column. Its option
   `unavailable.value.placeholder` is text; bytes are its bytes, in base64 or hexadecimal digits. #}
{% macro get_placeholders_sql(unavailable) -%}
  {%- set literal = versioned_collapsing.quote_literal(unavailable) -%}
  {{ literal }}, base64(cast({{ literal }} as binary)), lower(hex({{ literal }})), hex({{ literal }}),
  {{ versioned_collapsing._get_nested_placeholders_sql(unavailable) }}
{%- endmacro %}


{# Of arrays of text, hstore, arrays of integers, which have the text's bytes, and of UUIDs, which have one made of it
   (version 3). #}
{% macro _get_nested_placeholders_sql(unavailable) %}
  {%- set hash = local_md5(unavailable) -%}
  {%- set variant = '89ab89ab89ab89ab'['0123456789abcdef'.index(hash[16])] -%}
  {%- set uuid = [hash[:8], hash[8:12], '3' ~ hash[13:16], variant ~ hash[17:20], hash[20:]] | join('-') -%}
  {%- do return(versioned_collapsing.quote_literals([
      '["' ~ unavailable ~ '"]',
      '{"' ~ unavailable ~ '":"' ~ unavailable ~ '"}',
      '{"' ~ unavailable ~ '": "' ~ unavailable ~ '"}',
      '[' ~ unavailable.encode() | list | join(',') ~ ']',
      '[' ~ unavailable.encode() | list | join(', ') ~ ']',
      '["' ~ uuid ~ '"]',
  ])) -%}
{% endmacro %}
