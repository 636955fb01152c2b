{# The engine in dbt's own process: nobody else can be at its data. #}
{% macro is_embedded() %}
  {%- do return(target.get('driver') == 'chdb') -%}
{% endmacro %}
