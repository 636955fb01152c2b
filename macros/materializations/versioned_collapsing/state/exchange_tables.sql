{# Puts the rebuilt table, and then its tombstones, in the place of the old ones. If the run dies in between,
   bind_tombstones completes the exchange in the next run. EXCHANGE keeps materialized views attached to the name of the
   table. After a swap by RENAME, they would receive nothing. #}
{% macro exchange_tables(target_relation, existing_relation, options) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- set existing_tombstones = versioned_collapsing.get_tombstones_relation(existing_relation) -%}
  {%- do versioned_collapsing.exchange_with(target_relation, existing_relation) -%}
  {%- if options.remember_deletes -%}
    {%- do versioned_collapsing.exchange_with(tombstones, existing_tombstones) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_tables([tombstones if options.remember_deletes else existing_tombstones]) -%}
  {%- do versioned_collapsing.drop_tables([target_relation]) -%}
{% endmacro %}
