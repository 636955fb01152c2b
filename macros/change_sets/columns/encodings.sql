{# Debezium writes bytes in one of three ways, of which none can be told from the others by its look. #}
{% macro get_binary_problems(columns, encodings) %}
  {%- set problems = [] -%}
  {%- for name, type in columns.items() if versioned_collapsing.get_kind(type) == 'binary' and name not in encodings -%}
    {%- do problems.append(
        "columns: " ~ name ~ " is binary, and encodings does not say how its bytes are written: 'base64' (Debezium's "
        ~ "default), 'base64url' or 'hex', by the connector's binary.handling.mode, or 'text'."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro is_encoding_of(encoding, type) %}
  {%- do return(encoding in versioned_collapsing._get_encodings().get(versioned_collapsing.get_kind(type), [])) -%}
{% endmacro %}


{% macro get_encodings_text() %}
  {%- set texts = [] -%}
  {%- for type, encodings in versioned_collapsing._get_encodings().items() -%}
    {%- do texts.append(type ~ " takes '" ~ encodings | join("' or '") ~ "'") -%}
  {%- endfor -%}
  {%- do return(texts | join(', ')) -%}
{% endmacro %}


{# The encodings of each type. An encoding says how a text is written if Spark does not read it in this form. #}
{% macro _get_encodings() %}
  {%- do return({
      'boolean': ['nonzero'],
      'decimal': ['precise'],
      'binary': ['base64', 'base64url', 'hex', 'text'],
      'date': ['epoch_days'],
      'timestamp': ['epoch_millis', 'epoch_micros', 'epoch_nanos'],
  }) -%}
{% endmacro %}
