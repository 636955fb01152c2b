{# Every option of the materialization. validate_versioned_collapsing_options checks them. #}
{% macro get_versioned_collapsing_options(config, model) %}
  {%- set given = versioned_collapsing._get_given_options(config, model) -%}
  {%- set unique_key = versioned_collapsing.as_list(given.unique_key) -%}
  {%- do return(dict(
      given,
      unique_key=unique_key,
      order_by=versioned_collapsing._get_expressions(given.order_by) or unique_key,
      primary_key=versioned_collapsing._get_expressions(given.primary_key),
      partition_by=versioned_collapsing._get_expressions(given.partition_by) | reject('equalto', 'tuple()') | list,
  )) -%}
{% endmacro %}

{# Each option as the model gives it, or its default. #}
{% macro _get_given_options(config, model) %}
  {%- set defaults = {
      'unique_key': none,
      'version': '_version',
      'sign': '_sign',
      'is_deleted': '_is_deleted',
      'order_by': none,
      'primary_key': none,
      'partition_by': none,
      'ttl': none,
      'settings': {},
      'indexes': [],
      'projections': [],
      'old_state': 'lookup',
      'delete_version': 'respect',
      'remember_deletes': true,
      'combine': {},
      'on_conflict': 'warn',
      'publish': 'auto',
      'chunks': 1,
      'change_feed': 'auto',
  } -%}
  {%- set given = {'on_schema_change': versioned_collapsing._get_on_schema_change(config, model)} -%}
  {%- for name, default in defaults.items() -%}
    {%- do given.update({name: versioned_collapsing.get_option(config, name, default)}) -%}
  {%- endfor -%}
  {%- do return(given) -%}
{% endmacro %}

{# dbt itself sets this option for every model. Only a value that the project sets counts. #}
{% macro _get_on_schema_change(config, model) %}
  {%- set is_given = 'on_schema_change' in (config.get('meta') or {})
      or versioned_collapsing.is_in_config(model, 'on_schema_change') -%}
  {%- do return(versioned_collapsing.get_option(config, 'on_schema_change') if is_given else 'fail') -%}
{% endmacro %}

{# The expressions of a key: both `(a, b)` and `tuple(a, b)` have two. #}
{% macro _get_expressions(value) %}
  {%- set expressions = [] -%}
  {%- for entry in versioned_collapsing.as_list(value) -%}
    {%- set text = entry | string | trim -%}
    {%- set tuple = text[5:] if text.startswith('tuple(') else text -%}
    {%- set parts = versioned_collapsing.strip_parentheses(tuple) -%}
    {%- do expressions.extend(
        versioned_collapsing.split_top_level(parts) if parts not in ('', tuple) else [entry]
    ) -%}
  {%- endfor -%}
  {%- do return(expressions) -%}
{% endmacro %}

{# The change feed of a table, or none if it has none.

   - relation: the table with the signed rows of each apply
   - is_history: whether the option `change_feed` asks for the feed, and not only a view needs it. The feed then also
     holds the rows of the first apply
   - interval: for how long its rows are kept, as ClickHouse writes it. None: for ever, or until all views have used
     them
   - views: the names of the views that are maintained from it #}
{% macro get_change_feed(target_relation, options, model) %}
  {%- set views = versioned_collapsing.get_dependents(model)
      | selectattr('config.materialized', 'equalto', 'versioned_collapsing_view') | map(attribute='name') | list -%}
  {%- set option = options.change_feed | default('auto') -%}
  {%- if option is sameas false or (option == 'auto' and not views) -%}{%- do return(none) -%}{%- endif -%}
  {%- do return({
      'relation': versioned_collapsing.get_feed_relation(target_relation),
      'is_history': option != 'auto',
      'interval': none if option is boolean else versioned_collapsing.get_interval_sql(option),
      'views': views,
  }) -%}
{% endmacro %}

{# The columns that a change feed has in addition to those of its table. #}
{% macro get_feed_columns() %}
  {%- do return(['_apply', '_applied_at', '_changed_version']) -%}
{% endmacro %}

{# Columns that a change set may have besides key, version and payload. They are not stored. #}
{% macro get_control_columns(options) %}
  {%- do return([options.is_deleted, '_unset', '_reset', '_batch',
      '_is_truncate', '_watermark', '_landing'] + versioned_collapsing.get_carried_count_names()) -%}
{% endmacro %}

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
