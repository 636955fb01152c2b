{# Whether lines can be read at a location. While nothing is built, no engine has to be there to say so. #}
{% macro read_has_landed(location) %}
  {%- if not location or not versioned_collapsing.is_building() -%}{%- do return(true) -%}{%- endif -%}
  {%- do return(versioned_collapsing.read_location(location) | length > 0) -%}
{% endmacro %}


{% macro is_building() %}
  {%- do return(execute and flags.WHICH in ('run', 'build', 'retry')) -%}
{% endmacro %}


{# What a view says that was made before a first batch landed. #}
{% macro get_empty_landing_mark(location) %}
  {%- do return(versioned_collapsing.quote_literal('no batch had landed in ' ~ location)) -%}
{% endmacro %}
