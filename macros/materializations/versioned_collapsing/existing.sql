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
      getMaxTableNameLengthForDatabase({{ versioned_collapsing._literal(this.schema) }}) as most,
      {{ versioned_collapsing._literal(versioned_collapsing._beside(this, 'lock_' ~ local_md5('')).identifier) }} as longest,
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
    select
      engine, engine_full, sorting_key, partition_key,
      {{ versioned_collapsing._formatted_sql(options.order_by, columns) }} as wanted_sorting_key,
      {{ versioned_collapsing._formatted_sql(options.partition_by, columns) }} as wanted_partition_key
    from system.tables
    where database = '{{ existing.schema }}' and name = '{{ existing.identifier }}'
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set problems = [] -%}
  {%- set advice = " Change the option back, or rebuild the table: " ~ versioned_collapsing.get_rebuild_command(model) -%}
  {%- if 'VersionedCollapsingMergeTree' not in found['engine'] -%}
    {%- do problems.append(existing ~ " exists and is " ~ found['engine'] ~ ", not VersionedCollapsingMergeTree. Move it away, or rebuild it: " ~ versioned_collapsing.get_rebuild_command(model)) -%}
  {%- else -%}
    {%- set engine_columns = modules.re.search('VersionedCollapsingMergeTree\\(([^)]*)\\)', found['engine_full']).group(1) -%}
    {%- set wanted = {
        'sign and version': (options.sign ~ ', ' ~ options.version, engine_columns.split(', ')[-2:] | join(', ')),
        'order_by': (versioned_collapsing._without_version(found['wanted_sorting_key'], options.version), versioned_collapsing._without_version(found['sorting_key'], options.version)),
        'partition_by': (found['wanted_partition_key'], found['partition_key']),
    } -%}
    {%- for option, pair in wanted.items() if versioned_collapsing._normalized(pair[0]) != versioned_collapsing._normalized(pair[1]) -%}
      {%- do problems.append(option ~ ": is '" ~ versioned_collapsing._without_parentheses(pair[0]) ~ "', but " ~ existing ~ " has '" ~ versioned_collapsing._without_parentheses(pair[1]) ~ "'." ~ advice) -%}
    {%- endfor -%}
    {%- set remembered = run_query(
        "select sorting_key from system.tables where database = '" ~ existing.schema ~ "' and name = '"
        ~ versioned_collapsing.get_tombstones_relation(existing).identifier ~ "' " ~ versioned_collapsing.get_settings_sql()
    ).rows -%}
    {%- if remembered and versioned_collapsing._normalized(remembered[0]['sorting_key']) != versioned_collapsing._normalized(options.unique_key | join(',')) -%}
      {%- do problems.append("unique_key: is '" ~ options.unique_key | join(', ') ~ "', but " ~ existing ~ " was built with '" ~ remembered[0]['sorting_key'] ~ "'." ~ advice) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(existing | string, problems) -%}
{% endmacro %}


{# Expressions in ClickHouse's own spelling, which is how it keeps the keys of a table: `x::Date` is
   `CAST(x, 'Date')` there. #}
{% macro _formatted_sql(expressions, columns) %}
  {%- if not expressions -%}
    {%- do return("''") -%}
  {%- endif -%}
  {%- set query = 'select (' ~ versioned_collapsing._expressions_sql(expressions, columns) ~ ')' -%}
  {%- do return('substring(formatQuerySingleLine(' ~ versioned_collapsing._literal(query) ~ "), length('SELECT ') + 1)") -%}
{% endmacro %}


{# The engine appends the version to the sorting key, unless it is there. #}
{% macro _without_version(sorting_key, version) %}
  {%- set sorting_key = versioned_collapsing._without_parentheses(sorting_key) -%}
  {%- for suffix in (', ' ~ version, ', `' ~ version ~ '`') if sorting_key.endswith(suffix) -%}
    {%- do return(sorting_key[: -(suffix | length)]) -%}
  {%- endfor -%}
  {%- do return(sorting_key) -%}
{% endmacro %}


{# Expressions and types compare without blanks, quotes of names and outer parentheses. #}
{% macro _normalized(text) %}
  {%- do return(versioned_collapsing._without_parentheses(text | replace(' ', '') | replace('`', '') | replace('"', ''))) -%}
{% endmacro %}


{% macro _without_parentheses(text) %}
  {%- do return(text[1:-1] if text.startswith('(') and text.endswith(')') else text) -%}
{% endmacro %}


{# Projections that the model has and the table has not are added, and built for the rows that are there. #}
{% macro add_missing_projections(target, run) %}
  {%- set wanted = config.get('projections', default=[]) -%}
  {%- if not wanted -%}{%- do return(none) -%}{%- endif -%}
  {%- set found = run_query(
      "select name from system.projections where database = '" ~ target.schema ~ "' and table = '" ~ target.identifier ~ "' " ~ versioned_collapsing.get_settings_sql()
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
  {%- set query = "select count() as n from system.tables where database = '" ~ this.schema ~ "' and name = '" ~ this.identifier ~ "' " ~ versioned_collapsing.get_settings_sql() -%}
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
    where database = '{{ this.schema }}' and name = '{{ this.identifier }}'
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
