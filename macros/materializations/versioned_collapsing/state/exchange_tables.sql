{# Puts the rebuilt table, then its tombstones in the place of the old ones: bind_tombstones ends it when the run dies
   between the two. EXCHANGE keeps materialized views firing for the name; a swap by RENAME would silence them. #}
{% macro exchange_tables(target_relation, existing_relation, options) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- set existing_tombstones = versioned_collapsing.get_tombstones_relation(existing_relation) -%}
  {%- do run_query('exchange tables ' ~ target_relation ~ ' and ' ~ existing_relation) -%}
  {%- if options.remember_deletes -%}
    {%- do run_query('exchange tables ' ~ tombstones ~ ' and ' ~ existing_tombstones) -%}
  {%- endif -%}
  {%- do run_query('drop table if exists ' ~ (tombstones if options.remember_deletes else existing_tombstones)) -%}
  {%- do run_query('drop table ' ~ target_relation) -%}
{% endmacro %}
