{% macro is_encoding_of(encoding, type) %}
  {%- do return(versioned_collapsing._get_encodings().get(encoding) == versioned_collapsing.get_kind(type)) -%}
{% endmacro %}


{% macro get_encodings_text() %}
  {%- set texts = [] -%}
  {%- for encoding, type in versioned_collapsing._get_encodings().items() -%}
    {%- do texts.append(type ~ " takes '" ~ encoding ~ "'") -%}
  {%- endfor -%}
  {%- do return(texts | join(', ')) -%}
{% endmacro %}


{# The type of each encoding. An encoding says how a text is written if Spark does not read it in this form. #}
{% macro _get_encodings() %}
  {%- do return({
      'precise': 'decimal',
      'base64': 'binary',
      'epoch_days': 'date',
      'epoch_millis': 'timestamp',
      'epoch_micros': 'timestamp',
      'epoch_nanos': 'timestamp',
  }) -%}
{% endmacro %}
