{# Whether any delete is remembered: where none is, none has to be looked for. #}
{% macro has_tombstones(target, options) %}
  {%- if not options.remember_deletes -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- do return(run_query('select count() as _dbt_n from ' ~ versioned_collapsing.get_tombstones_relation(target) ~ ' ' ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] | int > 0) -%}
{% endmacro %}


{# Makes the table, or makes one that exists forget as the option says.
   `max` as the aggregate takes any type that a version may have; ReplacingMergeTree does not. #}
{% macro create_tombstones(target, options, columns) %}
  {%- if not options.remember_deletes -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set version = columns.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- set uuid = versioned_collapsing.read_uuid(target) -%}
  {% call statement('create_tombstones') -%}
    create table if not exists {{ versioned_collapsing.get_tombstones_relation(target) }} {{ on_cluster_clause(target) }} (
      {%- for column in columns.table if column.name in options.unique_key %}
      {{ adapter.quote(column.name) }} {{ column.type }},
      {%- endfor %}
      {{ adapter.quote(version.name) }} SimpleAggregateFunction(max, {{ version.type }}),
      _remembered_at SimpleAggregateFunction(max, DateTime('UTC')) default now()
    )
    engine = AggregatingMergeTree
    order by ({{ get_quoted_csv(options.unique_key) }})
    {%- if options.remember_deletes is not boolean %}
    ttl _remembered_at + {{ versioned_collapsing.get_interval_sql(options.remember_deletes) }}
    {%- endif %}
    {{ versioned_collapsing.get_settings_sql() }}
    comment {{ versioned_collapsing.quote_literal(versioned_collapsing._get_tombstones_comment(uuid)) }}
  {%- endcall %}
  {%- do versioned_collapsing.adapt_tombstones_ttl(versioned_collapsing.get_tombstones_relation(target), options) -%}
{% endmacro %}


{# ClickHouse keeps `interval 30 day` as toIntervalDay(30). #}
{% macro adapt_tombstones_ttl(tombstones, options) %}
  {%- set query = "select engine_full from system.tables where " ~ versioned_collapsing.get_is_table_sql(tombstones) ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- set engine = run_query(query).rows[0]['engine_full'] -%}
  {%- if options.remember_deletes is boolean -%}
    {%- if ' TTL ' in engine -%}
      {%- do run_query('alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) ~ ' remove ttl') -%}
    {%- endif -%}
  {%- else -%}
    {%- set interval = versioned_collapsing.get_interval_sql(options.remember_deletes) -%}
    {%- set parts = interval.split(' ') -%}
    {%- if ('toInterval' ~ parts[2] | capitalize ~ '(' ~ parts[1] | int ~ ')') not in engine -%}
      {%- do run_query('alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) ~ ' modify ttl _remembered_at + ' ~ interval) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{# Remembers the deletes that were applied: those that no newer live row outlives. It runs after the
   rows are written. The other way round, a run that died between the two would find its own
   tombstone above the delete, and the row would live for ever. #}
{% macro get_remember_deletes_sql(target, options, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  insert into {{ versioned_collapsing.get_tombstones_relation(target) }} ({{ key }}, {{ version }})
  select {{ key }}, _dbt_changes.{{ version }}
  from {{ versioned_collapsing.get_helper_relation(target, 'changes') }} as _dbt_changes
  left join (
    select {{ key }}, max({{ version }}) as _dbt_live_version, 1 as _dbt_is_live
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target, options) }}
    where {{ adapter.quote(options.sign) }} = 1
    group by {{ key }}
  ) as _dbt_live using ({{ key }})
  where _dbt_changes._dbt_is_deleted
    and not _dbt_changes._dbt_is_tombstoned
    and not _dbt_changes._dbt_is_buried
    and (_dbt_live._dbt_is_live = 0 or _dbt_changes.{{ version }} >= _dbt_live._dbt_live_version)
  {{ versioned_collapsing.get_settings_sql(run) }}
{%- endmacro %}


{# Keys by their first column and a hash: an IN over tuples costs more than reading the whole table.
   A collision only reads a row too many. #}
{% macro get_key_lookup_sql(unique_key, changes) -%}
  {%- set first = adapter.quote(unique_key[0]) -%}
  {{ first }} in (select {{ first }} from {{ changes }})
  {%- if unique_key | length > 1 %}
    and cityHash64({{ get_quoted_csv(unique_key) }}) in (select cityHash64({{ get_quoted_csv(unique_key) }}) from {{ changes }})
  {%- endif %}
{%- endmacro %}
