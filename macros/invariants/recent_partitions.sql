{# The last partitions by their values, as the partition key has them: numbers as numbers, dates as dates. They are
   looked up beforehand: ClickHouse passes over whole parts for literals only. A table that is not partitioned has one. #}
{% macro get_recent_partitions_sql(relation, recent_partitions) %}
  {%- if not execute or not versioned_collapsing.is_partitioned(relation) -%}{%- do return('true') -%}{%- endif -%}
  {%- set query -%}
    select _partition_id
    from {{ relation }}
    group by _partition_id, _partition_value
    order by _partition_value desc
    limit {{ recent_partitions }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set ids = run_query(query).rows | map(attribute='_partition_id') | list -%}
  {%- do return('_partition_id in (' ~ versioned_collapsing.quote_literals(ids or ['']) ~ ')') -%}
{% endmacro %}


{% macro is_partitioned(relation) %}
  {%- set query -%}
    select count() as n
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(relation.schema) }}
      and name = {{ versioned_collapsing.quote_literal(relation.identifier) }}
      and partition_key <> ''
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['n'] | int > 0) -%}
{% endmacro %}
