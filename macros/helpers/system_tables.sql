{# The condition that picks a relation in system.tables, or in another table that calls its columns so. #}
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
