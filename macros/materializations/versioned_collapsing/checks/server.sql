{# The server's release, cluster and database engine. `most`: how long the name of a table may be. `taken`: the length
   of the longest name among the table's helper tables, which is that of a lock that is taken over. A character other
   than a letter, digit or underscore counts as three. #}
{% macro read_server(this) %}
  {%- set cluster = (adapter.get_clickhouse_cluster_name() or '').strip('"') -%}
  {%- set longest = versioned_collapsing.get_helper_relation(this, 'lock_' ~ local_md5('')).identifier -%}
  {%- set query -%}
    select
      version() as version,
      getMaxTableNameLengthForDatabase({{ versioned_collapsing.quote_literal(this.schema) }}) as most,
      {{ versioned_collapsing.quote_literal(longest) }} as longest,
      3 * length(longest) - 2 * length(replaceRegexpAll(longest, '[^a-zA-Z0-9_]', '')) as taken,
      (
        select uniqExact(shard_num)
        from system.clusters
        where cluster = {{ versioned_collapsing.quote_literal(cluster) }}
      ) as shards,
      (
        select engine from system.databases where name = {{ versioned_collapsing.quote_literal(this.schema) }}
      ) as database_engine
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({
      'version': found['version'],
      'most': found['most'] | int,
      'taken': found['taken'] | int,
      'cluster': cluster,
      'shards': found['shards'] | int,
      'database_engine': found['database_engine'],
      'replication': versioned_collapsing.get_replication(this),
  }) -%}
{% endmacro %}


{# Older releases lack columns of system.tables and types in expressions that the macros use. Before 26.3, FINAL with a
   filter on the sign could also return cancelled rows. #}
{% macro validate_server(server) %}
  {%- if server.version.split('.')[:2] | map('int') | list < [26, 7] -%}
    {%- do exceptions.raise_compiler_error(
        "versioned_collapsing needs ClickHouse 26.7 or newer, but this is ClickHouse " ~ server.version
        ~ ". Update ClickHouse, or the package chdb."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# A run writes to one shard. Its tables are on each replica of that shard. #}
{% macro validate_cluster(this, server, options, model) %}
  {%- if server.replication and server.shards > 1 -%}
    {%- do exceptions.raise_compiler_error(
        "The cluster " ~ server.cluster ~ " in the profile has " ~ server.shards ~ " shards, and a run writes to one. "
        ~ "For each shard, make a target whose cluster has only the replicas of that shard."
    ) -%}
  {%- elif server.database_engine == 'Replicated' and not server.replication -%}
    {%- do exceptions.raise_compiler_error(
        "The database " ~ this.schema ~ " has the engine Replicated, but the profile does not say so. The table would "
        ~ "have its rows on one replica only. Set database_engine: Replicated in the profile."
    ) -%}
  {%- elif options.publish == 'atomic' and server.replication -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": publish is 'atomic', but " ~ this ~ " is replicated, and ClickHouse attaches rows to "
        ~ "a replicated table one partition after the other. Remove publish, or set it to journal."
    ) -%}
  {%- endif -%}
{% endmacro %}
