{# The options that dbt sets or accepts for every model (dbt-core 1.11 and 1.12, dbt 2), and those that dbt-clickhouse
   1.10 and dbt-spark accept for every relation. #}
{% macro get_option_names_of_dbt() %}
  {%- do return([
      'access', 'adapter', 'alias', 'batch_size', 'begin', 'classifiers', 'column_types', 'concurrent_batches',
      'contract', 'database', 'docs', 'enabled', 'event_time', 'freshness', 'full_refresh', 'grants', 'group',
      'incremental_strategy', 'latest_version_pointer', 'lookback', 'materialized', 'meta', 'on_configuration_change',
      'on_error', 'on_schema_change', 'packages', 'persist_docs', 'post-hook', 'post_hook', 'pre-hook', 'pre_hook',
      'quoting', 'schema', 'sql_header', 'static_analysis', 'tags', 'unique_key', 'disable_on_cluster',
      'force_on_cluster',
      '__dbt_internal_microbatch_event_time_start', '__dbt_internal_microbatch_event_time_end',
  ]) -%}
{% endmacro %}


{# Options of dbt's and dbt-clickhouse's other materializations. #}
{% macro get_meaningless_options() %}
  {%- do return({
      'engine': "The table is a VersionedCollapsingMergeTree. Leave it out.",
      'incremental_strategy': "Changes are always applied as state and cancel rows. Leave it out.",
      'incremental_predicates': "Only keys of the change set are looked up. Leave it out.",
      'predicates': "Only keys of the change set are looked up. Leave it out.",
      'inserts_only': "Leave it out.",
      'merge_update_columns': "The option combine says what becomes of each column.",
      'merge_exclude_columns': "The option combine says what becomes of each column.",
      'query_settings': "Settings of the select go into its own `settings` clause, those of the table into the option "
      ~ "settings.",
      'sharding_key': "ClickHouse's tables of one server have none. To cut an apply into parts, set the option chunks.",
      'shards': "It is called chunks.",
      'sql_header': "Settings of the select go into its own `settings` clause.",
  }) -%}
{% endmacro %}
