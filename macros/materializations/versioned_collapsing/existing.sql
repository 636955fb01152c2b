{# Stops the run on a server that is too old: 26.2 has the settings of deduplication that the apply relies on,
   and before 26.3 FINAL with a filter on the sign could return cancelled rows. #}
{% macro validate_server() %}
  {%- set version = run_query('select version() as version ' ~ versioned_collapsing.get_settings_sql()).rows[0]['version'] -%}
  {%- set release = version.split('.')[:2] | map('int') | list -%}
  {%- if release < [26, 3] -%}
    {%- do exceptions.raise_compiler_error("versioned_collapsing needs ClickHouse 26.3 or newer, and the server is " ~ version ~ ".") -%}
  {%- endif -%}
{% endmacro %}


{# Stops the run when the longest name of a helper, that of a lock which is taken over, would be longer than
   ClickHouse lets a table be called. It counts a character that is no letter, digit or underscore as three. #}
{% macro validate_name_length(this) %}
  {%- set query -%}
    select
      getMaxTableNameLengthForDatabase({{ versioned_collapsing.quote_literal(this.schema) }}) as most,
      {{ versioned_collapsing.quote_literal(versioned_collapsing.get_helper_relation(this, 'lock_' ~ local_md5('')).identifier) }} as longest,
      3 * length(longest) - 2 * length(replaceRegexpAll(longest, '[^a-zA-Z0-9_]', '')) as taken
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if found['taken'] | int > found['most'] | int -%}
    {%- do exceptions.raise_compiler_error(
        "alias: " ~ this.identifier ~ " is too long. With the names of its helper tables it takes " ~ found['taken'] ~ " of the " ~ found['most']
        ~ " characters that ClickHouse has for a table in " ~ this.schema ~ ". Make it " ~ versioned_collapsing.format_count(found['taken'] | int - found['most'] | int, 'character') ~ " shorter."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Stops the run when the relation that exists is not the table that the options describe. #}
{% macro validate_existing_table(existing, options, columns) %}
  {%- set query -%}
    select engine, engine_full, sorting_key, partition_key, (
      select max(sorting_key)
      from system.tables
      where {{ versioned_collapsing.get_is_table_sql(versioned_collapsing.get_tombstones_relation(existing)) }}
    ) as remembered_key
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(existing) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set problems = [] -%}
  {%- set rebuild = versioned_collapsing.get_rebuild_command(model) -%}
  {%- if 'VersionedCollapsingMergeTree' not in found['engine'] -%}
    {%- do problems.append(
        existing ~ " exists and is " ~ found['engine'] ~ ", not VersionedCollapsingMergeTree. Move it away, or rebuild it: " ~ rebuild
    ) -%}
  {%- else -%}
    {%- for option, pair in versioned_collapsing.compare_keys(found, options, columns).items() if pair[0] != pair[1] -%}
      {%- set differs = "', but " ~ existing ~ (" was built with '" if option == 'unique_key' else " has '") -%}
      {%- do problems.append(
          option ~ ": is '" ~ pair[0] ~ differs ~ pair[1]
          ~ "'. Change the option back, or rebuild the table: " ~ rebuild
      ) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(existing | string, problems) -%}
{% endmacro %}


{# What the options say and what the table has, by option, in ClickHouse's own spelling: it keeps `x::Date` as
   `CAST(x, 'Date')`. #}
{% macro compare_keys(found, options, columns) %}
  {%- set engine = 'VersionedCollapsingMergeTree\\(((?:`(?:[^`\\\\]|\\\\.)*`|\'(?:[^\'\\\\]|\\\\.)*\'|[^()`\'])*)\\)' -%}
  {%- set sign_and_version = versioned_collapsing.get_type_arguments(modules.re.search(engine, found['engine_full']).group(0))[-2:] -%}
  {%- set texts = [
      get_quoted_csv([options.sign, options.version]),
      sign_and_version | join(', '),
      versioned_collapsing.get_expressions_sql(options.order_by, columns),
      found['sorting_key'],
      versioned_collapsing.get_expressions_sql(options.partition_by, columns),
      found['partition_key'],
      get_quoted_csv(options.unique_key),
      found['remembered_key'] or get_quoted_csv(options.unique_key),
      adapter.quote(options.version),
  ] -%}
  {%- set formatted = versioned_collapsing.get_formatted_expressions(texts) -%}
  {%- set version = formatted[8] -%}
  {%- do return({
      'sign and version': (formatted[0], formatted[1]),
      'order_by': (
          versioned_collapsing._without_version(formatted[2], version),
          versioned_collapsing._without_version(formatted[3], version),
      ),
      'partition_by': (formatted[4], formatted[5]),
      'unique_key': (formatted[6], formatted[7]),
  }) -%}
{% endmacro %}


{# Lists of expressions in ClickHouse's own spelling, without parentheses around the whole. #}
{% macro get_formatted_expressions(texts) %}
  {%- set formatted = [] -%}
  {%- for text in texts -%}
    {%- set query = versioned_collapsing.quote_literal('select ' ~ text) -%}
    {%- do formatted.append('formatQuerySingleLine(' ~ query ~ ')' if text else "'SELECT '") -%}
  {%- endfor -%}
  {%- set found = run_query('select arrayJoin([' ~ formatted | join(', ') ~ ']) as _dbt_formatted ' ~ versioned_collapsing.get_settings_sql()).columns[0].values() -%}
  {%- set expressions = [] -%}
  {%- for text in found -%}
    {%- do expressions.append(versioned_collapsing.strip_parentheses(text['SELECT ' | length :])) -%}
  {%- endfor -%}
  {%- do return(expressions) -%}
{% endmacro %}


{# The engine appends the version to the sorting key, unless it is there. #}
{% macro _without_version(sorting_key, version) %}
  {%- set suffix = ', ' ~ version -%}
  {%- set key = sorting_key[: -(suffix | length)] if sorting_key.endswith(suffix) else sorting_key -%}
  {%- do return(versioned_collapsing.strip_parentheses(key)) -%}
{% endmacro %}


{# Projections that the model has and the table has not are added, and built for the rows that are there. #}
{% macro add_missing_projections(target, run) %}
  {%- set wanted = config.get('projections', default=[]) -%}
  {%- if not wanted -%}{%- do return(none) -%}{%- endif -%}
  {%- set found = run_query(
      "select name from system.projections where " ~ versioned_collapsing.get_is_table_sql(target, 'table')
        ~ ' ' ~ versioned_collapsing.get_settings_sql()
  ).rows | map(attribute='name') | list -%}
  {%- for projection in wanted if projection.get('name') not in found -%}
    {%- do log('Adding the projection ' ~ projection.get('name') ~ ' to ' ~ target, info=true) -%}
    {%- do run_query("alter table " ~ target ~ " modify setting deduplicate_merge_projection_mode = 'rebuild'") -%}
    {%- do run_query('alter table ' ~ target ~ ' add ' ~ clickhouse_projection_ddl(projection)) -%}
    {%- do run_query('alter table ' ~ target ~ ' materialize projection ' ~ projection.get('name') ~ ' ' ~ versioned_collapsing.get_settings_sql(run, {'mutations_sync': 1})) -%}
  {%- endfor -%}
{% endmacro %}


{# What was seen before the lock was taken holds still: nobody has built the table in between. #}
{% macro validate_same_place(this, existing, run) %}
  {%- set query = "select count() as n from system.tables where " ~ versioned_collapsing.get_is_table_sql(this) ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- if run_query(query).rows[0]['n'] | int != (0 if existing is none else 1) -%}
    {%- do versioned_collapsing.stop_run(run, this ~ (' was built' if existing is none else ' was dropped') ~ ' while this run waited for its lock. Run again.') -%}
  {%- endif -%}
{% endmacro %}


{# A rebuilt table takes the old one's place without its rows passing through the materialized views
   that hang on it: they must be rebuilt in the same run, or they would stay wrong. #}
{% macro validate_rebuild(this, existing, is_rebuild) %}
  {%- if existing is none -%}{%- do return(none) -%}{%- endif -%}
  {%- if existing.type != 'table' -%}
    {%- do exceptions.raise_compiler_error(
        existing ~ " is a " ~ existing.type ~ ", which a table cannot take the place of. Drop it or rename it, then run again."
    ) -%}
  {%- endif -%}
  {%- if not is_rebuild -%}{%- do return(none) -%}{%- endif -%}
  {%- set query -%}
    select view.1 as view_schema, view.2 as view_name
    from system.tables
    array join arrayZip(dependencies_database, dependencies_table) as view
    where {{ versioned_collapsing.get_is_table_sql(this) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set rebuilt = [] -%}
  {%- for node in graph.nodes.values() if node.unique_id in selected_resources -%}
    {%- do rebuilt.extend([(node.schema, node.alias), (node.schema, node.alias ~ '_mv')]) -%}
  {%- endfor -%}
  {%- set stale = [] -%}
  {%- for view in run_query(query).rows if (view['view_schema'], view['view_name']) not in rebuilt -%}
    {%- do stale.append(view['view_schema'] ~ '.' ~ view['view_name']) -%}
  {%- endfor -%}
  {%- if stale -%}
    {%- do exceptions.raise_compiler_error(
        this ~ " cannot be rebuilt alone: the materialized views " ~ stale ~ " hang on it and would keep the sums of the "
        ~ "old rows. Rebuild them with it: dbt run --full-refresh --select " ~ (versioned_collapsing.get_change_sets(model) | first | default(model)).name ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The first apply to a table needs a change set that begins at the first batch, and an empty table. #}
{% macro validate_history(this, existing, is_rebuild, model, manifest, ledger, run) %}
  {%- if not is_rebuild and not ledger.is_known -%}
    {%- do versioned_collapsing.validate_known_table(existing, model, run) -%}
  {%- endif -%}
  {%- if is_rebuild or not ledger.has_history -%}
    {%- do versioned_collapsing.validate_complete_manifest(this, manifest, run) -%}
  {%- endif -%}
{% endmacro %}
