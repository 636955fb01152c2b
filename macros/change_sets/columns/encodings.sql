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


{# How text becomes a value. An encoding says how the text is written where it is not as Spark reads it. #}
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
