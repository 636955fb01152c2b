{# How a table is replicated: 'Replicated' on a cluster, or in a database with this engine; 'Shared' in ClickHouse
   Cloud, where the server itself sees to the engine; '' on one server. #}
{% macro get_replication(relation) %}
  {%- if on_cluster_clause(relation) | trim -%}
    {%- do return('Replicated') -%}
  {%- endif -%}
  {%- set engine = (target.get('database_engine') or '').split('(')[0] | trim -%}
  {%- do return(engine if engine in ('Replicated', 'Shared') else '') -%}
{% endmacro %}


{# The engine of a table that is to be on each replica. Its path in Keeper is the server's default. #}
{% macro get_engine_name(relation, name) %}
  {%- set is_named = name.startswith(('Replicated', 'Shared')) -%}
  {%- set is_wanted = not is_named and versioned_collapsing.get_replication(relation) == 'Replicated' -%}
  {%- do return(('Replicated' if is_wanted else '') ~ name) -%}
{% endmacro %}


{% macro drop_tables(relations) %}
  {%- do run_query('drop table if exists ' ~ relations | join(', ') ~ ' ' ~ on_cluster_clause(relations[0]) | trim) -%}
{% endmacro %}


{% macro rename_table(relation, new, if_exists='') %}
  {%- do run_query(
      'rename table ' ~ if_exists ~ ' ' ~ relation ~ ' to ' ~ new ~ ' ' ~ on_cluster_clause(relation) | trim
  ) -%}
{% endmacro %}


{# Puts a table in the place of another one on all replicas. Each replica first gets all rows of the new table. #}
{% macro exchange_with(relation, other) %}
  {%- set on_cluster = on_cluster_clause(other) | trim -%}
  {%- if on_cluster -%}
    {%- do run_query('system sync replica ' ~ on_cluster ~ ' ' ~ relation) -%}
  {%- endif -%}
  {%- do run_query('exchange tables ' ~ relation ~ ' and ' ~ other ~ ' ' ~ on_cluster) -%}
{% endmacro %}


{# Waits for what other replicas have written: the last run may have been on one of them. #}
{% macro catch_up(relations) %}
  {%- set names = versioned_collapsing.quote_literals(relations | map(attribute='identifier')) -%}
  {%- set query -%}
    select name
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(relations[0].schema) }} and name in ({{ names }})
      and startsWith(engine, 'Replicated')
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows | map(attribute='name') | list -%}
  {%- for relation in relations if relation.identifier in found -%}
    {%- do run_query('system sync replica ' ~ relation) -%}
  {%- endfor -%}
{% endmacro %}
