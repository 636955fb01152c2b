{# Puts the rebuilt table, then its tombstones in the place of the old ones: bind_tombstones ends it when the run dies
   between the two. EXCHANGE keeps
   materialized views firing for the name; a swap by RENAME would silence them. #}
{% macro exchange_versioned_collapsing_table(target, existing, options) %}
  {%- do run_query('exchange tables ' ~ target ~ ' and ' ~ existing) -%}
  {%- if options.remember_deletes -%}
    {%- do run_query(
        'exchange tables ' ~ versioned_collapsing.get_tombstones_relation(target) ~ ' and '
        ~ versioned_collapsing.get_tombstones_relation(existing)
    ) -%}
  {%- endif -%}
  {%- do run_query(
      'drop table if exists ' ~ versioned_collapsing.get_tombstones_relation(target if options.remember_deletes
      else existing)
  ) -%}
  {%- do run_query('drop table ' ~ target) -%}
{% endmacro %}
