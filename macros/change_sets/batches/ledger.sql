{# What the ledger says of a target: the batches of the table that is there, with their hashes, and those of the last
   table that had its name too. #}
{% macro read_batches_of_target(target) %}
  {%- set database = versioned_collapsing.quote_literal(target.schema) -%}
  {%- set name = versioned_collapsing.quote_literal(target.alias) -%}
  {%- set exists = adapter.query_on(
      'clickhouse',
      'select count() as n from system.tables where database = ' ~ database
      ~ " and name = 'versioned_collapsing_ledger' " ~ versioned_collapsing.get_settings_sql()
  ).rows[0]['n'] | int -%}
  {%- set applied = {} -%}
  {%- set known = [] -%}
  {%- if exists -%}
    {%- set ledger = adapter.quote(target.schema) ~ '.versioned_collapsing_ledger' -%}
    {%- set is_own = 'model = ' ~ versioned_collapsing.quote_literal(target.name) ~ " and status = 'applied'" -%}
    {%- set query -%}
      with
        (select uuid from system.tables where database = {{ database }} and name = {{ name }}) as present,
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
