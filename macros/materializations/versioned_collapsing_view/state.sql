{# Whether the table was filled to the end with this select, from the table that the source's name now means,
   and is followed up. #}
{% macro read_is_current(this, source_relation, options) %}
  {%- set is_filled -%}
    status = 'filled'
      and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(this) }}
      and source_uuid = {{ versioned_collapsing.get_table_uuid_sql(source_relation) }}
      and definition = {{ versioned_collapsing.quote_literal(options.definition) }}
  {%- endset -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(source_relation) -%}
  {%- do return(
      versioned_collapsing.read_row_count(ledger, is_filled) > 0
      and versioned_collapsing.read_is_triggered(source_relation, versioned_collapsing.get_trigger_relation(this))
  ) -%}
{% endmacro %}


{# Whether rows that are inserted into the source reach a materialized view. They do when it reads the source
   first: what it joins to that is only looked up. #}
{% macro read_is_triggered(source_relation, trigger) %}
  {%- set view = versioned_collapsing.quote_literals([trigger.schema, trigger.identifier]) -%}
  {%- set has_view = 'has(arrayZip(dependencies_database, dependencies_table), (' ~ view ~ '))' -%}
  {%- set is_source = versioned_collapsing.get_is_table_sql(source_relation) -%}
  {%- do return(versioned_collapsing.read_row_count('system.tables', is_source ~ ' and ' ~ has_view) > 0) -%}
{% endmacro %}
