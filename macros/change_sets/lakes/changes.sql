{# The change set in the change data feed of a Delta table. A batch is a commit of the table. Its number is the version
   of the commit.

   Without `version`, `_version` is the number of the commit, and the table looks up what a change replaces. With
   `version`, a column of the row that grows with every change, the change set has signed rows for `old_state:
   stream`. #}
{% macro delta_changes(table, key, version=none) -%}
  {%- do config(meta={'lake': {'format': 'delta'}}) -%}
  {{ versioned_collapsing.read_lake_changes_sql(table, key, version, 'delta_changes') }}
{%- endmacro %}

{# The query of a change set of a lake table. While dbt parses, and before the table exists, a placeholder stands in for
   it. #}
{% macro read_lake_changes_sql(table, key, version, macro_name) -%}
  {%- set types = versioned_collapsing.read_column_types(table) -%}
  {%- do versioned_collapsing.validate_lake_changes(model, table, key, version, types, macro_name) -%}
  {%- if not types -%}{%- do return('select 1 as unread') -%}{%- endif -%}
  {%- set feed = versioned_collapsing.get_lake_feed_name(this) -%}
  {%- set payload = versioned_collapsing.get_payload(types, key) -%}
  {%- if version -%}
    {{ versioned_collapsing.get_lake_signed_rows_sql(feed, key, payload, version) }}
  {%- else -%}
    {{ versioned_collapsing.get_lake_latest_changes_sql(feed, key, payload) }}
  {%- endif -%}
{%- endmacro %}

{# All that is wrong with the arguments, as one error; `columns` is empty while the table is not there. #}
{% macro validate_lake_changes(model, table, key, version, columns, macro_name) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key}) -%}
  {%- if not problems and columns -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(table, columns, key)) -%}
    {%- if version -%}
      {%- do problems.extend(versioned_collapsing.get_version_column_problems(columns, version)) -%}
    {%- endif -%}
  {%- elif not columns and versioned_collapsing.is_building() -%}
    {%- do problems.append(table ~ " does not exist, or Spark cannot read it. Create it before the change set.") -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, macro_name) -%}
{% endmacro %}

{# The temporary view from which a change set of a lake reads its changes. It has the columns of the row, `_batch`,
   `_is_after` and `_is_truncate`. `_is_after` distinguishes the row after a commit from the row before it. The
   materialization makes the view, because it knows the batches. #}
{% macro get_lake_feed_name(change_set) %}
  {%- do return(change_set.schema ~ '__' ~ change_set.identifier ~ '__feed') -%}
{% endmacro %}

{# For each key, a cancel row of the row before the first commit that changed it, and a state row of the row after the
   last one. #}
{% macro get_lake_signed_rows_sql(feed, key, payload, version) -%}
  select
    {%- for name in key + payload %}
    image.{{ name }} as {{ name }},
    {%- endfor %}
    image.{{ version }} as _version,
    _sign
  from (
    {{ versioned_collapsing._get_lake_ends_sql(feed, key, key + payload) }}
  )
  lateral view inline(case
    when not _is_connected then {{ versioned_collapsing._get_raise_not_unique_sql(key) }}
    when _row_after.{{ version }} <= _row_before.{{ version }} and not _row_before <=> _row_after
      then raise_error(concat(
      'The row of the key ', to_json(struct({{ key | join(', ') }})), ' changes and its {{ version }} does not grow: ',
      _row_before.{{ version }}, ' before, ', _row_after.{{ version }}, ' after. Signed rows need a version that grows '
      'with every change. Choose such a column, or leave `version` out and use old_state lookup.'
    ))
    else array(
      struct(_row_before as image, cast(-1 as tinyint) as _sign),
      struct(_row_after as image, cast(1 as tinyint) as _sign)
    )
  end) as image, _sign
  where image is not null
    and not _is_truncate
    and not _row_before <=> _row_after
{%- endmacro %}

{# For each key, the row before and the row after the commits of a feed, null if there was none. Within one commit, the
   row before comes first. `_is_connected`: whether each row before is the one that an earlier commit left. Then the key
   never has more than one row. #}
{% macro _get_lake_ends_sql(feed, key, columns) -%}
  {%- set row = 'struct(' ~ columns | join(', ') ~ ')' -%}
  {%- set place = 'struct(_batch, _is_after)' -%}
  select
    {{ key | join(', ') }},
    _is_truncate,
    min_by(if(_is_after, null, {{ row }}), {{ place }}) as _row_before,
    max_by(if(_is_after, {{ row }}, null), {{ place }}) as _row_after,
    max({{ place }}) as _last,
    sum(if(_is_after, 1, -1)) = int(max({{ place }})._is_after) - int(not min({{ place }})._is_after) as _is_connected
  from {{ feed }}
  group by {{ key | join(', ') }}, _is_truncate
{%- endmacro %}

{% macro _get_raise_not_unique_sql(key) -%}
  raise_error(concat(
        'The lake table has more than one row of the key ', to_json(struct({{ key | join(', ') }})), '. A change feed '
        'needs a key that is unique in the lake table: correct `key`, or remove the duplicates and run again.'
      ))
{%- endmacro %}

{# For each key, the row after the last commit that changed it, or its delete. A snapshot of the whole table begins with
   a truncate just below its version, so that rows of an earlier state of the table do not stay. #}
{% macro get_lake_latest_changes_sql(feed, key, payload) -%}
  select
    {{ key | join(', ') }},
    {%- for name in payload %}
    _row_after.{{ name }} as {{ name }},
    {%- endfor %}
    case
      when _is_truncate then _last._batch - 1
      when _is_connected then _last._batch
      else {{ versioned_collapsing._get_raise_not_unique_sql(key) }}
    end as _version,
    not _last._is_after as _is_deleted,
    _is_truncate
  from (
    {{ versioned_collapsing._get_lake_ends_sql(feed, key, key + payload) }}
  )
{%- endmacro %}

{# The change set in the changelog of an Iceberg table. A batch is a snapshot of the table's main branch. Its number is
   the time of its commit, in microseconds since 1970. `catalog` is Spark's name of the catalog that has the table.
   Everything else is as in delta_changes. #}
{% macro iceberg_changes(table, key, version=none, catalog='spark_catalog') -%}
  {%- do config(meta={'lake': {'format': 'iceberg', 'catalog': catalog}}) -%}
  {{ versioned_collapsing.read_lake_changes_sql(table, key, version, 'iceberg_changes') }}
{%- endmacro %}

{# Makes the view from which a change set of a lake reads. In a run with --empty or --sample, the view has no rows. #}
{% macro create_lake_feed(model, lake, landed, pending, is_snapshot) %}
  {%- if not is_snapshot -%}
    {%- do versioned_collapsing.validate_lake_feed(model, lake, landed, pending) -%}
  {%- endif -%}
  {%- for sql in versioned_collapsing.get_lake_feed_statements(
      lake,
      versioned_collapsing.get_lake_feed_name(this),
      versioned_collapsing.read_column_types(lake.relation),
      landed,
      [] if versioned_collapsing.is_partial_run() else pending,
      is_snapshot,
  ) -%}
    {%- call statement('create_feed') -%}{{ sql }}{%- endcall -%}
  {%- endfor -%}
{% endmacro %}

{# Iceberg's changelog has no rows of snapshots with delete files. #}
{% macro validate_lake_feed(model, lake, landed, pending) %}
  {%- set merged_on_read = [] -%}
  {%- for batch in pending if landed[batch].deletes -%}
    {%- do merged_on_read.append(landed[batch].hash) -%}
  {%- endfor -%}
  {%- if merged_on_read -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": snapshots of " ~ lake.relation ~ " have delete files (merge-on-read), which Iceberg's "
        ~ "changelog does not read: " ~ merged_on_read[:10] | join(', ') ~ ". Set write.delete.mode, write.update.mode "
        ~ "and write.merge.mode to copy-on-write, and rewrite the data files. "
        ~ versioned_collapsing._get_restart_advice(model)
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro _get_restart_advice(model) %}
  {%- do return(
      "Build both again, from the table as it is now: dbt run --full-refresh --select " ~ model.name ~ "+"
  ) -%}
{% endmacro %}

{# The statements that make this view. If no target has applied an earlier commit, the view is the table as it was after
   the last commit. Then the feed, which may lack the first commits, is not needed. #}
{% macro get_lake_feed_statements(lake, feed, columns, landed, pending, is_snapshot) %}
  {%- set statements = [] -%}
  {%- if not pending -%}
    {%- set rows = versioned_collapsing._get_lake_snapshot_sql(lake.relation, columns, 0, '') ~ ' where false' -%}
  {%- elif is_snapshot -%}
    {%- set rows = versioned_collapsing._get_lake_snapshot_sql(
        lake.relation, columns, pending[-1], ' version as of ' ~ landed[pending[-1]].lake_version
    ) ~ versioned_collapsing._get_lake_truncate_sql(columns, pending[-1]) -%}
  {%- elif lake.format == 'delta' -%}
    {%- set rows = versioned_collapsing.get_delta_feed_sql(lake, columns, pending) -%}
  {%- else -%}
    {%- do statements.append(versioned_collapsing.get_create_changelog_sql(lake, feed ~ '_log', landed, pending)) -%}
    {%- set rows = versioned_collapsing.get_iceberg_feed_sql(feed ~ '_log', columns, landed, pending) -%}
  {%- endif -%}
  {%- do statements.append('create or replace temporary view ' ~ feed ~ ' as\n' ~ rows) -%}
  {%- do return(statements) -%}
{% endmacro %}

{% macro _get_lake_snapshot_sql(relation, columns, batch, as_of) -%}
  select
    {{ get_quoted_csv(columns) }},
    cast({{ batch }} as bigint) as _batch,
    true as _is_after,
    false as _is_truncate
  from {{ relation }}{{ as_of }}
{%- endmacro %}

{# The truncate that a snapshot begins with. Commit 0 needs none, because nothing is below it. #}
{% macro _get_lake_truncate_sql(columns, batch) -%}
  {%- if batch > 0 %}
  union all
  select
    {%- for name, type in columns.items() %}
    cast(null as {{ type }}) as {{ adapter.quote(name) }},
    {%- endfor %}
    cast({{ batch }} as bigint) as _batch,
    true as _is_after,
    true as _is_truncate
  {%- endif %}
{%- endmacro %}

{# The lake table whose change feed a change set reads: `format`, `catalog` and `relation`. delta_changes and
   iceberg_changes put the first two into the config while dbt parses. None for a change set of a landing zone. #}
{% macro get_lake(model) %}
  {%- set given = versioned_collapsing.get_option(model.config, 'lake') -%}
  {%- if not given -%}{%- do return(none) -%}{%- endif -%}
  {%- set parents = model.depends_on.nodes | unique | list -%}
  {%- do versioned_collapsing.validate_one_lake_table(model, given.format, parents) -%}
  {%- set node = graph.sources.get(parents[0]) or graph.nodes[parents[0]] -%}
  {%- set relation = api.Relation.create(schema=node.schema, identifier=node.identifier or node.alias) -%}
  {%- do return(dict(given, relation=relation)) -%}
{% endmacro %}

{# The numbers of commits belong to one table, so a change set reads only one. #}
{% macro validate_one_lake_table(model, format, parents) %}
  {%- if parents | length != 1 -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        "it reads " ~ parents | join(', ') ~ ". A change set of a lake table reads this table and nothing else. Join "
        ~ "other tables in a model on ClickHouse."
    ], format ~ '_changes') -%}
  {%- endif -%}
{% endmacro %}

{# The commits of a lake's table as batches. #}
{% macro read_lake_commits(model, lake) %}
  {%- do versioned_collapsing.validate_lake_format(model, lake, versioned_collapsing._read_provider(lake.relation)) -%}
  {%- if lake.format == 'delta' -%}
    {%- do return(versioned_collapsing.read_delta_commits(lake)) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.read_iceberg_snapshots(lake)) -%}
{% endmacro %}

{% macro validate_lake_format(model, lake, provider) %}
  {%- set title = {'delta': 'Delta', 'iceberg': 'Iceberg'}[lake.format] -%}
  {%- if provider != lake.format -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        lake.relation ~ (" is a table of the format " ~ provider if provider else " has no format")
        ~ "; the macro takes a table of " ~ title ~ ". Create it with file_format: " ~ lake.format ~ ". Spark needs "
        ~ "the jars and settings of " ~ title ~ ": see the hand-off in the adapter's README."
    ], lake.format ~ '_changes') -%}
  {%- endif -%}
{% endmacro %}

{% macro _read_provider(relation) %}
  {%- for row in run_query('describe table extended ' ~ relation).rows if row[0] == 'Provider' -%}
    {%- do return(row[1] | string | lower) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}

{# The commits without those that were applied under another number. If the parent of a snapshot expires, the number of
   the snapshot may change, but it is still the same snapshot. #}
{% macro get_commits_not_renumbered(landed, applied) %}
  {%- set commits = {} -%}
  {%- set hashes = applied.values() | list -%}
  {%- for batch, commit in landed.items() if batch in applied or commit.hash not in hashes -%}
    {%- do commits.update({batch: commit}) -%}
  {%- endfor -%}
  {%- do return(commits) -%}
{% endmacro %}

{# The last commit that all targets have applied shows how far they are. If the history of the table has neither this
   commit nor the one after it, nobody knows what has changed since. #}
{% macro validate_lake_history(model, lake, landed, applied) %}
  {%- set last = applied | max if applied else none -%}
  {%- set known = landed.values() | map(attribute='hash') | list + landed.values() | map(attribute='follows') | list -%}
  {%- if applied and applied[last] not in known -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": the history of " ~ lake.relation ~ " has neither commit " ~ last ~ " (" ~ applied[last]
        ~ "), the last that is applied, nor the one after it. Either these commits have expired, or the table was "
        ~ "rolled back or created again. What has changed since is unknown. "
        ~ versioned_collapsing._get_restart_advice(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
