{# What system.tables says about some tables of one database, and about those whose names begin with a prefix, by
   identifier. Tables that do not exist are left out. #}
{% macro read_tables(relations, prefix=none) %}
  {%- set names = versioned_collapsing.quote_literals(relations | map(attribute='identifier')) -%}
  {%- set query -%}
    select name, engine, engine_full, sorting_key, partition_key, toString(uuid) as uuid, comment
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(relations[0].schema) }}
      and (name in ({{ names }})
        {%- if prefix %} or startsWith(name, {{ versioned_collapsing.quote_literal(prefix) }}){% endif %})
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set tables = {} -%}
  {%- for row in run_query(query).rows -%}
    {%- do tables.update({row['name']: dict(zip(row.keys(), row.values()))}) -%}
  {%- endfor -%}
  {%- do return(tables) -%}
{% endmacro %}


{# The number of rows that satisfy a condition. #}
{% macro read_row_count(relation, condition='true') %}
  {%- set query -%}
    select count() as _dbt_n from {{ relation }} where {{ condition }} {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['_dbt_n'] | int) -%}
{% endmacro %}
