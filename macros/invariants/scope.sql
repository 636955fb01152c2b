{# The condition that keeps a test to a part of the table: the config `where`, one key of `sample`, by hash, and the
   last partitions. A pair shares its key, its partition and all that `where` can name but the sign, so a table that
   conforms does so in every part. #}
{% macro get_scope_sql(table, where, sample, partitions) %}
  {%- set conditions = ['(' ~ where ~ ')'] if where else [] -%}
  {%- if sample -%}
    {%- do conditions.append(versioned_collapsing.get_sample_sql(table.key, sample)) -%}
  {%- endif -%}
  {%- if partitions is not none -%}
    {%- do conditions.append(versioned_collapsing.get_partitions_sql(partitions)) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ') or 'true') -%}
{% endmacro %}


{# The condition that keeps both sides of a comparison to the same keys: `key` by its columns there, `expressions` by
   those of the table. #}
{% macro get_keys_in_scope_sql(table, key, expressions, sample, partitions) %}
  {%- set conditions = [versioned_collapsing.get_sample_sql(key, sample)] if sample else [] -%}
  {%- if partitions is not none and key -%}
    {%- do conditions.append(
        "tuple(" ~ key ~ ") in (select tuple(" ~ expressions ~ ") from " ~ table.relation ~ " where "
        ~ versioned_collapsing.get_partitions_sql(partitions) ~ ")"
    ) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ') or 'true') -%}
{% endmacro %}


{# In a tuple, since the hash of a null is null. #}
{% macro get_sample_sql(key, sample) -%}
  cityHash64(tuple({{ key }})) % {{ sample }} = 0
{%- endmacro %}
