{# What the ledger says about a target. `applied`: the batches of the existing table, with their hashes. `known`: these,
   and the batches of the last table that had the name. `change_set`: the last change set of the existing table. #}
{% macro read_batches_of_target(target) %}
  {%- set database = versioned_collapsing.quote_literal(target.schema) -%}
  {%- set name = versioned_collapsing.quote_literal(target.alias) -%}
  {%- set columns = adapter.query_on(
      'clickhouse',
      "select countIf(name = 'model') as ledgers, countIf(name = 'change_set') as with_change_sets "
      ~ 'from system.columns where database = ' ~ database ~ " and table = 'versioned_collapsing_ledger' "
      ~ versioned_collapsing.get_settings_sql()
  ).rows[0] -%}
  {%- if not columns['ledgers'] | int -%}
    {%- do return({'applied': {}, 'known': [], 'change_set': ''}) -%}
  {%- endif -%}
  {%- set ledger = adapter.quote(target.schema) ~ '.versioned_collapsing_ledger' -%}
  {%- set is_own = 'model = ' ~ versioned_collapsing.quote_literal(target.name) ~ " and status = 'applied'" -%}
  {%- set query -%}
    with
      (select uuid from system.tables where database = {{ database }} and name = {{ name }}) as present,
      (select argMax(target_uuid, at) from {{ ledger }} where {{ is_own }}) as latest
    select
      groupArrayIf((batch, hash), times > 0) as applied,
      groupArray(batch) as known,
      argMaxIf(last_change_set, last, times > 0) as change_set
    from (
      select
        applied.batch as batch,
        argMaxIf(applied.hash, at, target_uuid = present) as hash,
        countIf(target_uuid = present) as times,
        maxIf(at, target_uuid = present) as last,
        {{ 'argMaxIf(change_set, at, target_uuid = present)' if columns['with_change_sets'] | int else "''" }}
          as last_change_set
      from {{ ledger }}
      array join batches as applied
      where {{ is_own }} and (target_uuid = present or target_uuid = latest)
      group by batch
    )
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {#- One row: many rows cost seconds in dbt. -#}
  {%- set found = adapter.query_on('clickhouse', query).rows[0] -%}
  {%- do return({
      'applied': dict(versioned_collapsing.parse_array(found['applied'])),
      'known': versioned_collapsing.parse_array(found['known']),
      'change_set': found['change_set'],
  }) -%}
{% endmacro %}
