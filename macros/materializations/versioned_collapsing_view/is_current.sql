{# Whether the table was filled to the end with this select, from the table that the source's name now means,
   and is followed up. #}
{% macro is_view_current(this, source, options) %}
  {%- set query -%}
    select count() as n
    from {{ versioned_collapsing.get_ledger_relation(source) }}
    where status = 'filled'
      and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(this) }}
      and source_uuid = {{ versioned_collapsing.get_table_uuid_sql(source) }}
      and definition = '{{ options.definition }}'
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(
      run_query(query).rows[0]['n'] | int > 0 and versioned_collapsing.is_triggered(source,
      versioned_collapsing.get_trigger_relation(this))
  ) -%}
{% endmacro %}


{# Whether rows that are inserted into the source reach a materialized view. They do when it reads the source
   first: what it joins to that is only looked up. #}
{% macro is_triggered(source, trigger) %}
  {%- set query -%}
    select count() as n
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(source.schema) }}
        and name = {{ versioned_collapsing.quote_literal(source.identifier) }}
      and has(arrayZip(dependencies_database, dependencies_table),
          ({{ versioned_collapsing.quote_literals([trigger.schema, trigger.identifier]) }}))
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['n'] | int > 0) -%}
{% endmacro %}
