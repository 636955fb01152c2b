{# Makes all that is staged visible in one step: its parts become parts of the table as they are, by hard links. Whoever
   reads the table sees all of them or none. If ClickHouse itself is killed meanwhile, some of them may be there when it
   starts again; the next run publishes the others. #}
{% macro attach_staged(target_relation, role, relation, apply) %}
  {% call statement('publish') -%}
    alter table {{ relation }}
    attach partition all from {{ versioned_collapsing.get_helper_relation(target_relation, role) }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
{% endmacro %}
