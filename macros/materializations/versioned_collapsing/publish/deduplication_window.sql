{# ClickHouse recognizes a repeated block by this window. The table, and each table that a view fills, needs one:
   otherwise a repeated insert would write its rows twice. Replicated tables have one anyway. #}
{% macro keep_deduplication_window(table) %}
  {%- set window = versioned_collapsing.get_deduplication_window() -%}
  {%- set query -%}
    select engine, toUInt64OrZero(extract(engine_full, 'non_replicated_deduplication_window = (\\d+)')) as blocks
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(table) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if not found['engine'].endswith('MergeTree') -%}
    {%- do exceptions.warn(
        table ~ " has the engine " ~ found['engine'] ~ ", which does not recognise repeated blocks. If a run is "
        ~ "interrupted while it publishes rows, this table may receive them twice. Use an engine of the "
        ~ "MergeTree family."
    ) -%}
  {%- elif not found['engine'].startswith(('Replicated', 'Shared')) and found['blocks'] | int < window -%}
    {%- do run_query('alter table ' ~ table ~ ' modify setting non_replicated_deduplication_window = ' ~ window) -%}
  {%- endif -%}
{% endmacro %}


{# The size of the window: one entry for each partition of a block. Only one block may have to be repeated, the one at
   which a run dies. #}
{% macro get_deduplication_window() %}
  {%- do return(10000) -%}
{% endmacro %}
