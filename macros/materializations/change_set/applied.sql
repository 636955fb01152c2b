{# The batches that every target of a change set has applied, with the hash that they had then. #}
{% macro read_applied_batches(model) %}
  {%- do return(adapter.dispatch('read_applied_batches', 'versioned_collapsing')(model)) -%}
{% endmacro %}


{% macro default__read_applied_batches(model) %}
  {%- do exceptions.raise_compiler_error(model.unique_id ~ ": change sets are made on Spark, not on " ~ target.type ~ ".") -%}
{% endmacro %}


{# Spark asks ClickHouse for the ledger where the adapter can; on plain dbt-spark the variable
   `applied_batches` says it: {orders_changes: {1: <hash>, 2: <hash>}}. #}
{% macro spark__read_applied_batches(model) %}
  {%- if adapter.query_on is not defined -%}
    {%- do return(var('applied_batches', {}).get(model.name, {})) -%}
  {%- endif -%}
  {%- set by_target = [] -%}
  {%- for node in graph.nodes.values() if node.config.materialized == 'versioned_collapsing' and model.unique_id in node.depends_on.nodes -%}
    {%- do by_target.append(versioned_collapsing._read_ledger(node)) -%}
  {%- endfor -%}
  {%- set applied = {} -%}
  {%- for batch, hash in (by_target[0] if by_target else {}).items() -%}
    {%- if versioned_collapsing._is_in_all(by_target, batch) -%}
      {%- do applied.update({batch: hash}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(applied) -%}
{% endmacro %}


{% macro _is_in_all(mappings, key) %}
  {%- for mapping in mappings if key not in mapping -%}
    {%- do return(false) -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}


{% macro _read_ledger(target) %}
  {%- set exists = adapter.query_on(
      'clickhouse',
      "select count() as n from system.tables where database = '" ~ target.schema ~ "' and name = 'versioned_collapsing_ledger'"
  ).rows[0]['n'] | int -%}
  {%- set applied = {} -%}
  {%- if exists -%}
    {%- set query -%}
      select applied.batch as batch, argMax(applied.hash, at) as hash
      from {{ target.schema }}.versioned_collapsing_ledger
      array join batches as applied
      where model = '{{ target.name }}'
        and status = 'applied'
        and target_uuid = (select uuid from system.tables where database = '{{ target.schema }}' and name = '{{ target.alias }}')
      group by batch
    {%- endset -%}
    {%- for row in adapter.query_on('clickhouse', query).rows -%}
      {%- do applied.update({row['batch'] | int: row['hash']}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(applied) -%}
{% endmacro %}
