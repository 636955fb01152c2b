{# How Spark reads the JSON of a line exactly, with numbers and nested values as the text on the line. If a number is to
   become text, `from_json` makes a new text from a double. So numbers are put into quotes first.

   The regular expressions are Java's. Their loops are possessive, so that no line is too long for the stack. #}
{% macro get_json_string_pattern() %}
  {%- set pattern -%}"(?:[^"\\]++|\\.)*+"{%- endset -%}
  {%- do return(pattern) -%}
{% endmacro %}


{# A value that is nested at most 24 levels deep, two of which may be Debezium's: a regular expression cannot match any
   depth. #}
{% macro get_json_value_pattern() %}
  {%- set string = versioned_collapsing.get_json_string_pattern() -%}
  {%- set nested = [''] -%}
  {%- for level in range(24) -%}
    {%- do nested.append('|[\\[{](?:[^"\\[\\]{}]++|' ~ string ~ nested[-1] ~ ')*+[\\]}]') -%}
  {%- endfor -%}
  {%- do return('(?:[^"\\[\\]{},\\s]++|' ~ string ~ nested[-1] ~ ')') -%}
{% endmacro %}


{# The beginning of a number that Spark may not write as it was read, or that is no number in JSON. #}
{% macro _get_rewritten_number_pattern() %}
  {%- do return('(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})') -%}
{% endmacro %}
