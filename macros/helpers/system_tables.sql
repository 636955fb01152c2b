{# The condition that picks a relation in system.tables, or in another system table. `name` is the column that has the
   relation's name there. #}
{% macro get_is_table_sql(relation, name='name') %}
  {%- do return(
      'database = ' ~ versioned_collapsing.quote_literal(relation.schema) ~ ' and ' ~ name ~ ' = '
      ~ versioned_collapsing.quote_literal(relation.identifier)
  ) -%}
{% endmacro %}


{% macro get_table_uuid_sql(target_relation) %}
  {%- do return(
      '(select uuid from system.tables where ' ~ versioned_collapsing.get_is_table_sql(target_relation) ~ ')'
  ) -%}
{% endmacro %}
