{# Whether the engine runs in dbt's own process. Then no other process can use its data. #}
{% macro is_embedded() %}
  {%- do return(target.get('driver') == 'chdb') -%}
{% endmacro %}
