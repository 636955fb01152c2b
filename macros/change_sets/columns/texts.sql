{# The text of a field as a cast can read it. If the column may lack its value, Debezium's placeholder becomes null. #}
{% macro get_text_sql(field, type, encoding, is_toasted, unavailable='__debezium_unavailable_value') %}
  {%- set text = field if not is_toasted else
      'if(' ~ field ~ ' in (' ~ versioned_collapsing.get_placeholders_sql(unavailable) ~ '), null, ' ~ field ~ ')' -%}
  {%- if encoding == 'precise' -%}
    {%- do return(versioned_collapsing.get_precise_decimal_sql(text, versioned_collapsing._get_precision(type)[1])) -%}
  {%- endif -%}
  {%- do return(text) -%}
{% endmacro %}
