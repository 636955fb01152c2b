{# Drops what a full refresh that died has left beside the table. #}
{% macro drop_leftover_build(this, tables) %}
  {%- for name in tables.leftover -%}
    {%- do versioned_collapsing.drop_tables([this.incorporate(path={'identifier': name}, type='table')]) -%}
  {%- endfor -%}
{% endmacro %}
