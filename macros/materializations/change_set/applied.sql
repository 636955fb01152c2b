{# What the targets of a change set have of its batches: `by_all`, those that every target has applied, with the hash
   that they had then, and `by_any`, those that one of them has, or had when it was last there. #}
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
    {%- set given = var('applied_batches', {}).get(model.name, {}) -%}
    {%- do return({'by_all': given, 'by_any': given | list}) -%}
  {%- endif -%}
  {%- set by_target = [] -%}
  {%- for node in graph.nodes.values() if node.config.materialized == 'versioned_collapsing' and model.unique_id in node.depends_on.nodes -%}
    {%- do by_target.append(versioned_collapsing._read_ledger(node)) -%}
  {%- endfor -%}
  {%- set by_all = {} -%}
  {%- for batch, hash in (by_target[0].applied if by_target else {}).items() -%}
    {%- if versioned_collapsing._is_in_all(by_target | map(attribute='applied') | list, batch) -%}
      {%- do by_all.update({batch: hash}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return({'by_all': by_all, 'by_any': by_target | sum(attribute='known', start=[]) | unique | sort}) -%}
{% endmacro %}


{% macro _is_in_all(mappings, key) %}
  {%- for mapping in mappings if key not in mapping -%}
    {%- do return(false) -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}


{# What the ledger says of a target: the batches of the table that is there, with their hashes, and those of the last
   table that had its name too. #}
{% macro _read_ledger(target) %}
  {%- set database = versioned_collapsing.quote_literal(target.schema) -%}
  {%- set exists = adapter.query_on(
      'clickhouse',
      'select count() as n from system.tables where database = ' ~ database ~ " and name = 'versioned_collapsing_ledger' "
      ~ versioned_collapsing.get_settings_sql()
  ).rows[0]['n'] | int -%}
  {%- set applied = {} -%}
  {%- set known = [] -%}
  {%- if exists -%}
    {%- set ledger = adapter.quote(target.schema) ~ '.versioned_collapsing_ledger' -%}
    {%- set is_own = 'model = ' ~ versioned_collapsing.quote_literal(target.name) ~ " and status = 'applied'" -%}
    {%- set query -%}
      with
        (select uuid from system.tables where database = {{ database }} and name = {{ versioned_collapsing.quote_literal(target.alias) }}) as present,
        (select argMax(target_uuid, at) from {{ ledger }} where {{ is_own }}) as latest
      select
        applied.batch as batch,
        argMaxIf(applied.hash, at, target_uuid = present) as hash,
        countIf(target_uuid = present) as times
      from {{ ledger }}
      array join batches as applied
      where {{ is_own }} and (target_uuid = present or target_uuid = latest)
      group by batch
      {{ versioned_collapsing.get_settings_sql() }}
    {%- endset -%}
    {%- for row in adapter.query_on('clickhouse', query).rows -%}
      {%- do known.append(row['batch'] | int) -%}
      {%- if row['times'] | int -%}
        {%- do applied.update({row['batch'] | int: row['hash']}) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return({'applied': applied, 'known': known}) -%}
{% endmacro %}
