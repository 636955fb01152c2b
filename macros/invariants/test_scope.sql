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


{# The partitions are looked up beforehand: ClickHouse passes over whole parts for literals only. #}
{% macro get_recent_partitions_sql(relation, recent_partitions) %}
  {%- set query -%}
    select distinct partition_id
    from system.parts
    where database = '{{ relation.schema }}' and table = '{{ relation.identifier }}' and active
    order by partition_id desc
    limit {{ recent_partitions }}
  {%- endset -%}
  {%- set ids = run_query(query).rows | map(attribute='partition_id') | list if execute else [] -%}
  {%- do return("_partition_id in ('" ~ ids | join("', '") ~ "')") -%}
{% endmacro %}
