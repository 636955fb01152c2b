{# What Debezium writes for a value that the database did not send, for each kind of column. Its option
   `unavailable.value.placeholder` is a text. For bytes, it is the bytes of this text, in base64 or in hexadecimal
   digits. #}
{% macro get_placeholders_sql(unavailable) -%}
  {%- set literal = versioned_collapsing.quote_literal(unavailable) -%}
  {{ literal }}, base64(cast({{ literal }} as binary)), lower(hex({{ literal }})), hex({{ literal }}),
  {{ versioned_collapsing._get_nested_placeholders_sql(unavailable) }}
{%- endmacro %}


{# The placeholders in arrays of text, in hstore, in arrays of integers (the bytes of the text), and in arrays of UUIDs
   (a UUID of version 3 that is made of the text). #}
{% macro _get_nested_placeholders_sql(unavailable) %}
  {%- set bytes = versioned_collapsing._get_bytes(unavailable) -%}
  {%- set hash = local_md5(unavailable) -%}
  {%- set variant = '89ab89ab89ab89ab'['0123456789abcdef'.index(hash[16])] -%}
  {%- set uuid = [hash[:8], hash[8:12], '3' ~ hash[13:16], variant ~ hash[17:20], hash[20:]] | join('-') -%}
  {%- do return(versioned_collapsing.quote_literals([
      '["' ~ unavailable ~ '"]',
      '{"' ~ unavailable ~ '":"' ~ unavailable ~ '"}',
      '{"' ~ unavailable ~ '": "' ~ unavailable ~ '"}',
      '[' ~ bytes | join(',') ~ ']',
      '[' ~ bytes | join(', ') ~ ']',
      '["' ~ uuid ~ '"]',
  ])) -%}
{% endmacro %}


{# The bytes of a text in UTF-8, from its URL encoding: dbt 2 lacks Python's methods that return bytes. #}
{% macro _get_bytes(text) %}
  {%- set digits = '0123456789ABCDEF' -%}
  {%- set printable = ' !"#$%&' ~ "'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ"
      ~ "[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~" -%}
  {%- set bytes = [] -%}
  {%- for part in ('%' ~ text | urlencode).split('%')[1:] -%}
    {%- set is_escaped = not loop.first -%}
    {%- do bytes.append(digits.index(part[0]) * 16 + digits.index(part[1])) if is_escaped -%}
    {%- for character in part[2 if is_escaped else 0 :] -%}
      {%- do bytes.append(printable.index(character) + 32) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(bytes) -%}
{% endmacro %}
