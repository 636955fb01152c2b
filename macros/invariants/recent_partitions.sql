{# The last partitions by their values, as the partition key has them: numbers as numbers, dates as dates. They are
   looked up beforehand: ClickHouse passes over whole parts for literals only. None where they are not asked for, and no
   partition where the table has none: then all of it counts. #}
{% macro read_recent_partitions(relation, recent_partitions) %}
  {%- if not recent_partitions -%}{%- do return(none) -%}{%- endif -%}
  {%- if not execute or not versioned_collapsing._read_is_partitioned(relation) -%}{%- do return([]) -%}{%- endif -%}
  {%- set query -%}
    select _partition_id
    from {{ relation }}
    group by _partition_id, _partition_value
    order by _partition_value desc
    limit {{ recent_partitions }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows | map(attribute='_partition_id') | list or ['']) -%}
{% endmacro %}


{% macro get_partitions_sql(partitions) %}
  {%- set ids = versioned_collapsing.quote_literals(partitions) -%}
  {%- do return('_partition_id in (' ~ ids ~ ')' if partitions else 'true') -%}
{% endmacro %}


{% macro _read_is_partitioned(relation) %}
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
