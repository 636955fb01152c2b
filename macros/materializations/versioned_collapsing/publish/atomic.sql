{# Makes all staged rows visible in one step: by hard links, the staged parts become parts of the table. A reader sees
   all of them or none. If ClickHouse itself is killed meanwhile, only some of them may be there after its restart. The
   next run then publishes the others. #}
{% macro attach_staged(target_relation, role, relation, apply) %}
  {% call statement('publish') -%}
    alter table {{ relation }}
    attach partition all from {{ versioned_collapsing.get_helper_relation(target_relation, role) }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
{% endmacro %}
