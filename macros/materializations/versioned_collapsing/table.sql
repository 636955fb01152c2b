{# What is wrong with the relation that exists, if it is not the table that the options and columns describe. #}
{% macro get_existing_table_problems(existing_relation, found, formatted, stored, options, columns, model) %}
  {%- set rebuild = versioned_collapsing.get_rebuild_command(model) -%}
  {%- if 'VersionedCollapsingMergeTree' not in found.target.engine -%}
    {%- do return([
        existing_relation ~ " exists and is " ~ found.target.engine ~ ", not VersionedCollapsingMergeTree. Rename it, "
        ~ "or rebuild it: " ~ rebuild
    ]) -%}
  {%- endif -%}
  {%- set problems = [] -%}
  {%- set pairs = versioned_collapsing._get_keys(found.target, found.tombstones, formatted) -%}
  {%- for option, pair in pairs.items() if pair.wanted != pair.found -%}
    {%- set differs = "', but " ~ existing_relation ~ (" was built with '" if option == 'unique_key'
        else " has '") -%}
    {%- do problems.append(
        option ~ (" are '" if ' and ' in option else " is '") ~ pair.wanted ~ differs ~ pair.found
        ~ "'. Change the option back, or rebuild the table: " ~ rebuild
    ) -%}
  {%- endfor -%}
  {%- do return(
      problems + versioned_collapsing._get_tombstones_problems(existing_relation, found.tombstones, stored, options)
      + versioned_collapsing.get_schema_change_problems(existing_relation, stored, options, columns, model)
  ) -%}
{% endmacro %}

{# ClickHouse cuts a version to the type in which the tombstones remember it, without an error. #}
{% macro _get_tombstones_problems(existing_relation, tombstones, stored, options) %}
  {%- set type = 'SimpleAggregateFunction(max, ' ~ stored[options.version] ~ ')' -%}
  {%- if not tombstones or options.version not in stored
      or type ~ ', `_remembered_at`' in tombstones.create_table_query -%}
    {%- do return([]) -%}
  {%- endif -%}
  {%- set relation = versioned_collapsing.get_tombstones_relation(existing_relation) -%}
  {%- do return([
      options.version ~ " is " ~ stored[options.version] ~ " in " ~ existing_relation ~ ", and " ~ relation
      ~ ", which remembers deletes, has another type for it. Give it the same: alter table " ~ relation
      ~ " modify column " ~ versioned_collapsing.quote_name(options.version) ~ " " ~ type
  ]) -%}
{% endmacro %}

{# For each option, what the model wants and what the table has. Both are in ClickHouse's own spelling: it stores
   `x::Date` as `CAST(x, 'Date')`. #}
{% macro _get_keys(found, remembered, formatted) %}
  {%- set names = ['sign and version', 'order_by', 'partition_by', 'unique_key'] -%}
  {%- set version, wanted = formatted[0], dict(zip(names, formatted[1:])) -%}
  {%- set stored = {
      'sign and version': versioned_collapsing.get_engine_arguments(found.engine_full)[-2:] | join(', '),
      'order_by': versioned_collapsing._without_version(found.sorting_key, version),
      'partition_by': '' if found.partition_key == 'tuple()' else found.partition_key,
      'unique_key': remembered.sorting_key if remembered else wanted.unique_key,
  } -%}
  {%- set pairs = {} -%}
  {%- for option, text in wanted.items() -%}
    {%- do pairs.update({option: {
        'wanted': versioned_collapsing._without_version(text, version) if option == 'order_by' else text,
        'found': versioned_collapsing.strip_parentheses(stored[option]),
    }}) -%}
  {%- endfor -%}
  {%- do return(pairs) -%}
{% endmacro %}

{# The version, and the key of each option, as the model spells them. #}
{% macro _get_key_texts(options, columns) %}
  {%- do return([
      adapter.quote(options.version),
      get_quoted_csv([options.sign, options.version]),
      versioned_collapsing.get_expressions_sql(options.order_by, columns),
      versioned_collapsing.get_expressions_sql(options.partition_by, columns),
      get_quoted_csv(options.unique_key),
  ]) -%}
{% endmacro %}

{# Removes the version, which the engine appends to a sorting key that does not contain it. #}
{% macro _without_version(sorting_key, version) %}
  {%- set suffix = ', ' ~ version -%}
  {%- set key = sorting_key[: -(suffix | length)] if sorting_key.endswith(suffix) else sorting_key -%}
  {%- do return(versioned_collapsing.strip_parentheses(key)) -%}
{% endmacro %}

{% macro validate_existing_table(existing_relation, problems) %}
  {%- do versioned_collapsing.raise_problems(existing_relation | string, problems) -%}
{% endmacro %}

{# Stops the run if another run has applied to the table before this run took the lock. #}
{% macro validate_is_unused(existing_relation, ledger, apply) %}
  {%- if ledger.has_history or ledger.unfinished -%}
    {%- do versioned_collapsing.stop_run(apply,
        existing_relation ~ ' was filled while this run waited for its lock. Run again.'
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The names of a table's helpers must not be longer than ClickHouse allows. #}
{% macro validate_name_length(this, server) %}
  {%- if server.taken > server.most -%}
    {%- do exceptions.raise_compiler_error(
        "alias: " ~ this.identifier ~ " is too long. Its longest helper table has a name of " ~ server.taken
        ~ " characters, and ClickHouse allows " ~ server.most ~ " for a table in " ~ this.schema ~ ". Make the alias "
        ~ versioned_collapsing.format_count(server.taken - server.most, 'character') ~ " shorter."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# A rebuilt table takes the place of the old one, but its rows do not pass through the materialized views on the table.
   These views must be rebuilt in the same run, or they would stay wrong. #}
{% macro validate_rebuild(this, existing_relation, is_rebuild, model) %}
  {%- do versioned_collapsing.validate_is_table(existing_relation) -%}
  {%- if existing_relation is none or not is_rebuild -%}{%- do return(none) -%}{%- endif -%}
  {%- set query -%}
    select view.1 as view_schema, view.2 as view_name
    from system.tables
    array join arrayZip(dependencies_database, dependencies_table) as view
    where {{ versioned_collapsing.get_is_table_sql(this) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set ours = {} -%}
  {%- for node in graph.nodes.values() -%}
    {%- set is_rebuilt = node.unique_id in selected_resources -%}
    {%- do ours.update({(node.schema, node.alias): is_rebuilt, (node.schema, node.alias ~ '_mv'): is_rebuilt}) -%}
  {%- endfor -%}
  {%- set stale, foreign = [], [] -%}
  {%- for view in run_query(query).rows if not ours.get((view['view_schema'], view['view_name'])) -%}
    {%- do (stale if (view['view_schema'], view['view_name']) in ours else foreign).append(
        view['view_schema'] ~ '.' ~ view['view_name']
    ) -%}
  {%- endfor -%}
  {%- if stale or foreign -%}
    {%- set it = 'it' if foreign | length == 1 else 'them' -%}
    {%- set command = 'dbt run --full-refresh --select '
        ~ (versioned_collapsing.get_change_sets(model) | first | default(model)).name ~ '+' -%}
    {%- do exceptions.raise_compiler_error(
        this ~ " cannot be rebuilt alone. " ~ ("This materialized view reads" if (stale + foreign) | length == 1
        else "These materialized views read") ~ " from it and would keep the sums of the old rows: "
        ~ (stale + foreign) | join(', ') ~ ". "
        ~ ("Rebuild everything together: " ~ command if not foreign
        else "dbt does not build " ~ foreign | join(', ') ~ ". Drop " ~ it ~ ", run `" ~ command ~ "`, then create "
        ~ it ~ " and fill " ~ it ~ " again.")
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro validate_is_table(existing_relation) %}
  {%- if existing_relation is not none and existing_relation.type != 'table' -%}
    {%- do exceptions.raise_compiler_error(
        existing_relation ~ " is a " ~ existing_relation.type ~ ", and a table cannot replace it. Drop it or rename "
        ~ "it, then run again."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Stops the run if the table was built or dropped after this run looked for it and before it took the lock. #}
{% macro validate_same_place(this, existing_relation, found, apply) %}
  {%- if (found is none) != (existing_relation is none) -%}
    {%- do versioned_collapsing.stop_run(apply,
        this ~ (' was built' if existing_relation is none else ' was dropped')
        ~ ' while this run waited for its lock. Run again.'
    ) -%}
  {%- endif -%}
{% endmacro %}

{# What the server says before the lock is taken, in one statement:

   - version, cluster, shards, database_engine and replication of the server
   - most: how long the name of a table may be. taken: the length of the longest name among the table's helper tables,
     which is that of a lock that is taken over. A character other than a letter, digit or underscore counts as three
   - tables: as get_tables_of returns them
   - stored: the types of the stored columns by their name, without the sign
   - formatted: the keys that the model wants, in ClickHouse's own spelling; empty if no table is compared with them #}
{% macro read_server(this, options, columns, is_rebuild) %}
  {%- set cluster = (adapter.get_clickhouse_cluster_name() or '').strip('"') -%}
  {%- set longest = versioned_collapsing.get_helper_relation(this, 'lock_' ~ local_md5('')).identifier -%}
  {%- set texts = [] if is_rebuild else versioned_collapsing._get_key_texts(options, columns) -%}
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
      ) as database_engine,
      {{ versioned_collapsing.get_tables_beside_sql(this) }} as tables,
      {{ versioned_collapsing.get_table_columns_sql(this) }} as stored,
      {{ versioned_collapsing.get_formatted_sql(texts) }} as formatted
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set stored = dict(fromjson(found['stored'])) -%}
  {%- do stored.pop(options.sign, none) -%}
  {%- do return({
      'version': found['version'],
      'most': found['most'] | int,
      'taken': found['taken'] | int,
      'cluster': cluster,
      'shards': found['shards'] | int,
      'database_engine': found['database_engine'],
      'replication': versioned_collapsing.get_replication(this),
      'tables': versioned_collapsing.get_tables_of(this, versioned_collapsing.get_tables(found['tables'])),
      'stored': stored,
      'formatted': versioned_collapsing.get_formatted(found['formatted']),
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

{# The table to apply to: the target itself or, if an existing target is rebuilt, a table beside it that takes its place
   at the end. #}
{% macro get_table_to_apply_to(this, existing_relation, is_rebuild) %}
  {%- set is_beside = is_rebuild and existing_relation is not none -%}
  {%- set target_relation = versioned_collapsing.get_helper_relation(this, 'build') if is_beside else this -%}
  {%- do return(target_relation.incorporate(type='table')) -%}
{% endmacro %}

{# Creates the table and its tombstones, empty. #}
{% macro create_versioned_collapsing_table(target_relation, options, columns) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- do versioned_collapsing.drop_tables([target_relation, tombstones]) -%}
  {% call statement('create_target') -%}
    {{ versioned_collapsing.get_create_versioned_collapsing_table_sql(target_relation, options, columns) }}
  {%- endcall %}
  {%- do versioned_collapsing._add_indexes_and_projections(target_relation, options) -%}
  {%- do versioned_collapsing.prepare_tombstones(target_relation, options, columns, none) -%}
{% endmacro %}

{% macro get_create_versioned_collapsing_table_sql(target_relation, options, columns) -%}
  create table {{ target_relation }} {{ on_cluster_clause(target_relation) }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {{ adapter.quote(options.sign) }} Int8
  )
  engine = {{ versioned_collapsing.get_engine_name(target_relation, 'VersionedCollapsingMergeTree') }}(
    {{- adapter.quote(options.sign) }}, {{ adapter.quote(options.version) }})
  {%- if options.partition_by %}
  partition by ({{ versioned_collapsing.get_expressions_sql(options.partition_by, columns) }})
  {%- endif %}
  {%- if options.primary_key %}
  primary key ({{ versioned_collapsing.get_expressions_sql(options.primary_key, columns) }})
  {%- endif %}
  order by ({{ versioned_collapsing.get_expressions_sql(options.order_by, columns) }})
  {%- if options.ttl %}
  ttl {{ options.ttl }}
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(more=versioned_collapsing._get_table_settings(options)) }}
  comment {{ versioned_collapsing.quote_literal(versioned_collapsing.get_table_comment()) }}
{%- endmacro %}

{# Table settings. The constraint refuses any sign but 1 and -1; without the projection mode
   ClickHouse refuses projections on a collapsing table. #}
{% macro _get_table_settings(options) %}
  {%- set all = {'add_implicit_sign_column_constraint_for_collapsing_engine': 1} -%}
  {%- if options.projections -%}
    {%- do all.update({'deduplicate_merge_projection_mode': 'rebuild'}) -%}
  {%- endif -%}
  {%- do all.update(options.settings) -%}
  {%- do return(all) -%}
{% endmacro %}

{# Distinguishes a table that a run has made from one that somebody else has made. #}
{% macro get_table_comment() %}
  {%- do return('versioned_collapsing') -%}
{% endmacro %}

{# Adds all of them in one statement: a replica that lags behind refuses several statements. #}
{% macro _add_indexes_and_projections(target_relation, options) %}
  {%- set added = [] -%}
  {%- for projection in options.projections -%}
    {%- do added.append('add ' ~ clickhouse_projection_ddl(projection)) -%}
  {%- endfor -%}
  {%- for index in options.indexes -%}
    {%- do added.append('add index ' ~ index.get('name') ~ ' ' ~ index.get('definition')) -%}
  {%- endfor -%}
  {% if added %}
    {% call statement('add_projections_and_indexes') -%}
      alter table {{ target_relation }} {{ on_cluster_clause(target_relation) }} {{ added | join(', ') }}
    {%- endcall %}
  {% endif %}
{% endmacro %}

{# Whether a table was made by a first run that then failed: it is ours, it is empty, and nothing was applied to it. If
   the model has changed since, the table is made anew. #}
{% macro read_is_unused_table(existing_relation, found, model) %}
  {%- if found.target.comment != versioned_collapsing.get_table_comment()
      or versioned_collapsing.read_row_count(existing_relation) -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set ledger = versioned_collapsing.read_ledger(existing_relation, model) -%}
  {%- do return(not ledger.has_history and not ledger.unfinished) -%}
{% endmacro %}

{# Puts the rebuilt table, and then its tombstones, in the place of the old ones. If the run dies in between,
   bind_tombstones completes the exchange in the next run. EXCHANGE keeps materialized views attached to the name of the
   table. After a swap by RENAME, they would receive nothing. #}
{% macro exchange_tables(target_relation, existing_relation, options) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- set existing_tombstones = versioned_collapsing.get_tombstones_relation(existing_relation) -%}
  {%- do versioned_collapsing.exchange_with(target_relation, existing_relation) -%}
  {%- if options.remember_deletes -%}
    {%- do versioned_collapsing.exchange_with(tombstones, existing_tombstones) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_tables([tombstones if options.remember_deletes else existing_tombstones]) -%}
  {%- do versioned_collapsing.drop_tables([target_relation]) -%}
{% endmacro %}

{# Drops what a full refresh that died has left beside the table. #}
{% macro drop_leftover_build(this, tables) %}
  {%- for name in tables.leftover -%}
    {%- do versioned_collapsing.drop_tables([this.incorporate(path={'identifier': name}, type='table')]) -%}
  {%- endfor -%}
{% endmacro %}

{# The columns of the model, brought in line with those of the table. `on_schema_change` decides about columns that only
   one of the two has. Columns that the change set lacks are kept as they are stored. #}
{% macro get_aligned_columns(stored, options, columns) %}
  {%- set changes = versioned_collapsing.get_column_differences(stored, columns) -%}
  {%- set table = [] -%}
  {%- for column in columns.table if column.name in stored or options.on_schema_change == 'append_new_columns' -%}
    {%- do table.append(column) -%}
  {%- endfor -%}
  {%- for name in changes.absent -%}
    {%- do table.append({'name': name, 'type': stored[name], 'given_type': none}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.get_columns(options, table, columns.given)) -%}
{% endmacro %}

{# Adds the columns that the table lacks, to its change feed too. #}
{% macro add_new_columns(existing_relation, stored, columns, apply) %}
  {%- set added = columns.table | rejectattr('name', 'in', stored) | list -%}
  {%- for column in added -%}
    {%- do versioned_collapsing.alter_table(
        existing_relation, 'add column if not exists ' ~ adapter.quote(column.name) ~ ' ' ~ column.type,
        versioned_collapsing.get_settings_sql()
    ) -%}
    {%- do versioned_collapsing._warn_of_a_name_alike(existing_relation, column.name, stored) -%}
  {%- endfor -%}
  {%- set feed_relation = versioned_collapsing.get_feed_relation(existing_relation) -%}
  {%- set described = versioned_collapsing.read_feed_columns(existing_relation, feed_relation) if added else {} -%}
  {%- if added -%}
    {%- do log(
        existing_relation ~ ': added ' ~ added | map(attribute='name') | join(', ') ~ ', with the default in stored '
        ~ 'rows until they change. To take the values of earlier changes: ' ~ apply.rebuild_command
        ~ (' (which begins the change feed, and the history in it, anew)' if described.feed), info=true
    ) -%}
  {%- endif -%}
  {%- if described.feed -%}
    {%- do versioned_collapsing.alter_feed(feed_relation, described, []) -%}
  {%- endif -%}
{% endmacro %}

{# ClickHouse distinguishes `x` from `X`. If a source changes the case of a name, a column is added, and the old one is
   no longer updated. #}
{% macro _warn_of_a_name_alike(existing_relation, name, stored) %}
  {%- for known in stored if known | lower == name | lower -%}
    {%- do exceptions.warn(
        existing_relation ~ ": the new column " ~ name ~ " differs from " ~ known ~ " only in case, so it is a "
        ~ "separate column. If both are the same, select it as " ~ known ~ " and drop the new column: alter table "
        ~ existing_relation ~ " drop column " ~ adapter.quote(name)
    ) -%}
  {%- endfor -%}
{% endmacro %}

{# Adds the projections that the model has and the table lacks, and builds them for the existing rows. #}
{% macro add_missing_projections(target_relation, options, apply) %}
  {%- if not options.projections -%}{%- do return(none) -%}{%- endif -%}
  {%- set found = run_query(
      "select name from system.projections where " ~ versioned_collapsing.get_is_table_sql(target_relation, 'table')
        ~ ' ' ~ versioned_collapsing.get_settings_sql()
  ).rows | map(attribute='name') | list -%}
  {%- for projection in options.projections if projection.get('name') not in found -%}
    {%- do log('Adding the projection ' ~ projection.get('name') ~ ' to ' ~ target_relation, info=true) -%}
    {%- do versioned_collapsing.alter_table(
        target_relation, "modify setting deduplicate_merge_projection_mode = 'rebuild'"
    ) -%}
    {%- do versioned_collapsing.alter_table(target_relation, 'add ' ~ clickhouse_projection_ddl(projection)) -%}
    {%- do versioned_collapsing.alter_table(
        target_relation, 'materialize projection ' ~ projection.get('name'),
        versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 1})
    ) -%}
  {%- endfor -%}
{% endmacro %}
