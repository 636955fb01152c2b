{# The condition that keeps a test to a part of the table: the config `where`, one key of `sample`, by hash, and the
   last `recent_partitions`. A pair shares its key, its partition and all that `where` can name but the sign, so a
   table that conforms does so in every part. #}
{% macro get_scope_sql(table, where, sample, recent_partitions) %}
  {%- set conditions = ['(' ~ where ~ ')'] if where else [] -%}
  {%- if sample -%}
    {%- do conditions.append(versioned_collapsing.get_sample_sql(table.key, sample)) -%}
  {%- endif -%}
  {%- if recent_partitions -%}
    {%- do conditions.append(versioned_collapsing.get_recent_partitions_sql(table.relation, recent_partitions)) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ') or 'true') -%}
{% endmacro %}


{# In a tuple, since the hash of a null is null. #}
{% macro get_sample_sql(key, sample) -%}
  cityHash64(tuple({{ key }})) % {{ sample }} = 0
{%- endmacro %}


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
