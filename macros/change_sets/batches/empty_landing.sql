{# What a view says that was made before a first batch landed. #}
{% macro get_empty_landing_mark(location) %}
  {%- do return(versioned_collapsing.quote_literal('no batch had landed in ' ~ location)) -%}
{% endmacro %}


{# Whether dbt builds models, and does not only compile them, for which no engine has to be there. #}
{% macro is_building() %}
  {%- do return(execute and flags.WHICH in ('run', 'build', 'retry')) -%}
{% endmacro %}
