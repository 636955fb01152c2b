{# The batches that the variable `retake_batches` names: a number, or a list of them. #}
{% macro get_batches_to_retake() %}
  {%- do return(versioned_collapsing.as_list(var('retake_batches', none)) | map('int') | list) -%}
{% endmacro %}


{# The given batches up to the variable `through_batch`. #}
{% macro get_batches_through(batches) %}
  {%- set through = var('through_batch', none) -%}
  {%- do return(batches | list if through is none else batches | select('le', through | int) | list) -%}
{% endmacro %}
