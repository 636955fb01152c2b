{# Whether lines can be read at a location. Unless dbt builds models, the answer is yes, so that no engine is needed. #}
{% macro read_has_landed(location) %}
  {%- if not location or not versioned_collapsing.is_building() -%}{%- do return(true) -%}{%- endif -%}
  {%- do return(versioned_collapsing.read_location(location) | length > 0) -%}
{% endmacro %}


{% macro is_building() %}
  {%- do return(execute and flags.WHICH in ('run', 'build', 'retry')) -%}
{% endmacro %}


{# The text that marks a view as made before the first batch landed. #}
{% macro get_empty_landing_mark(location) %}
  {%- do return(versioned_collapsing.quote_literal('no batch had landed in ' ~ location)) -%}
{% endmacro %}
