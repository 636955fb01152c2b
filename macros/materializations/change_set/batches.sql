{# The batches that the targets of a change set have applied. `by_all`: the batches that every target has applied, with
   their hashes at that time. `by_any`: the batches that any target has, or that its last table had. `change_sets`: the
   last change set that each target has applied. #}
{% macro read_applied_batches(model) %}
  {%- do return(adapter.dispatch('read_applied_batches', 'versioned_collapsing')(model)) -%}
{% endmacro %}

{% macro default__read_applied_batches(model) %}
  {%- do versioned_collapsing._validate_is_on_spark(model, target.type) -%}
{% endmacro %}

{% macro _validate_is_on_spark(model, engine) %}
  {%- if engine != 'spark' -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": a change set can be built only on Spark, and this model is built on " ~ engine
        ~ ". Build it on Spark."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# If the adapter can, Spark asks ClickHouse for the ledger. On plain dbt-spark, the variable `applied_batches` gives
   the batches: {orders_changes: {1: <hash>, 2: <hash>}}. #}
{% macro spark__read_applied_batches(model) %}
  {%- if adapter.query_on is not defined -%}
    {%- set given = var('applied_batches', {}).get(model.name, {}) -%}
    {%- do return({'by_all': given, 'by_any': given | list, 'change_sets': []}) -%}
  {%- endif -%}
  {%- set by_target = [] -%}
  {%- for node in versioned_collapsing.get_targets(model) -%}
    {%- do by_target.append(versioned_collapsing.read_batches_of_target(node)) -%}
  {%- endfor -%}
  {%- set by_all = namespace(batches=by_target[0].applied if by_target else {}) -%}
  {%- for other in by_target[1:] -%}
    {%- set by_all.batches = dict(by_all.batches.items() | selectattr(0, 'in', other.applied)) -%}
  {%- endfor -%}
  {%- do return({
      'by_all': by_all.batches,
      'by_any': by_target | sum(attribute='known', start=[]) | unique | sort,
      'change_sets': by_target | map(attribute='change_set') | unique | list,
  }) -%}
{% endmacro %}

{% macro get_targets(model) %}
  {%- set found = [] -%}
  {%- for node in graph.nodes.values() if node.config.materialized == 'versioned_collapsing' -%}
    {%- if model.unique_id in node.depends_on.nodes -%}
      {%- do found.append(node) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# What the ledger says about a target. `applied`: the batches of the existing table, with their hashes. `known`: these,
   and the batches of the last table that had the name. `change_set`: the last change set of the existing table. #}
{% macro read_batches_of_target(target) %}
  {%- set database = versioned_collapsing.quote_literal(target.schema) -%}
  {%- set name = versioned_collapsing.quote_literal(target.alias) -%}
  {%- set ledgers = adapter.query_on(
      'clickhouse',
      'select count() as n from system.tables where database = ' ~ database
      ~ " and name = 'versioned_collapsing_ledger' " ~ versioned_collapsing.get_settings_sql()
  ).rows[0]['n'] -%}
  {%- if not ledgers | int -%}
    {%- do return({'applied': {}, 'known': [], 'change_set': ''}) -%}
  {%- endif -%}
  {%- set ledger = adapter.quote(target.schema) ~ '.versioned_collapsing_ledger' -%}
  {%- set is_own = 'model = ' ~ versioned_collapsing.quote_literal(target.name) ~ " and status = 'applied'" -%}
  {%- set query -%}
    with
      (select uuid from system.tables where database = {{ database }} and name = {{ name }}) as present,
      (select argMax(target_uuid, at) from {{ ledger }} where {{ is_own }}) as latest
    select
      groupArrayIf((batch, hash), times > 0) as applied,
      groupArray(batch) as known,
      argMaxIf(last_change_set, last, times > 0) as change_set
    from (
      select
        applied.batch as batch,
        argMaxIf(applied.hash, at, target_uuid = present) as hash,
        countIf(target_uuid = present) as times,
        maxIf(at, target_uuid = present) as last,
        argMaxIf(change_set, at, target_uuid = present) as last_change_set
      from {{ ledger }}
      array join batches as applied
      where {{ is_own }} and (target_uuid = present or target_uuid = latest)
      group by batch
    )
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {#- Only one row, because dbt takes seconds for many. -#}
  {%- set found = adapter.query_on('clickhouse', query).rows[0] -%}
  {%- do return({
      'applied': dict(versioned_collapsing.parse_array(found['applied'])),
      'known': versioned_collapsing.parse_array(found['known']),
      'change_set': found['change_set'],
  }) -%}
{% endmacro %}

{# For a change set's SQL: whether a batch is among those that this run takes. The materialization fills the manifest
   before it runs the SQL. The condition uses a value and not a join, so that Spark reads only the folders of these
   batches, and rows stay in the order in which they are read. In a unit test, which has no `this`, all batches are
   taken. #}
{% macro is_pending(batch) %}
  {%- if this is none -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- do return(
      'array_contains((select collect_list(batch) from ' ~ versioned_collapsing.get_change_set_manifest_relation(this)
      ~ ' where batch is not null), ' ~ batch ~ ')'
  ) -%}
{% endmacro %}

{# The rows of a change set's manifest, none if there is no manifest. If ClickHouse has it from Spark, ClickHouse reads
   it, which takes a small part of the time of a statement on Spark. #}
{% macro read_kept_manifest(manifest, file_format='parquet', is_one_row_enough=false) %}
  {%- set limit = ' limit 1' if is_one_row_enough else '' -%}
  {%- if adapter.get_relation(manifest.database, manifest.schema, manifest.identifier) is none -%}
    {%- do return([]) -%}
  {%- elif adapter.has_receipt is defined
      and adapter.has_receipt(manifest.schema, manifest.identifier, file_format) -%}
    {%- do return(adapter.query_on(
        'clickhouse',
        'select * from ' ~ adapter.hand_off(manifest.schema, manifest.identifier, file_format)
        ~ limit ~ ' ' ~ versioned_collapsing.get_settings_sql()
    ).rows) -%}
  {%- endif -%}
  {%- do return(run_query('select * from ' ~ manifest ~ limit).rows) -%}
{% endmacro %}

{# Batches that a target has not applied, that have changed since, or that must be taken again. A batch with a number
   below an applied one is taken too, because it may have landed late. #}
{% macro get_pending_batches(landed, applied, changed) %}
  {%- set again = changed + versioned_collapsing.get_batches_to_reprocess() -%}
  {%- set pending = [] -%}
  {%- for batch in versioned_collapsing.get_batches_through(landed) if batch not in applied or batch in again -%}
    {%- do pending.append(batch) -%}
  {%- endfor -%}
  {%- do return(pending) -%}
{% endmacro %}

{# The batches that the variable `reprocess_batches` names: a number, or a list of them. #}
{% macro get_batches_to_reprocess() %}
  {%- do return(versioned_collapsing.as_list(var('reprocess_batches', none)) | map('int') | list) -%}
{% endmacro %}

{# The given batches up to the variable `through_batch`. #}
{% macro get_batches_through(batches) %}
  {%- set through = var('through_batch', none) -%}
  {%- do return(batches | list if through is none else batches | select('le', through | int) | list) -%}
{% endmacro %}

{# Applied batches whose files have changed since they were applied. #}
{% macro get_changed_batches(landed, applied) %}
  {%- set changed = [] -%}
  {%- for batch, hash in applied.items() if batch in landed and landed[batch].hash != hash -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- do return(changed | sort) -%}
{% endmacro %}

{# Batches that a target has, or that its last table had, and that are no longer in the landing zone. A table that is
   built from the start would lack them. Batches below the variable `rebuild_from_batch` do not count. #}
{% macro get_missing_batches(landed, known) %}
  {%- set begin = var('rebuild_from_batch', 0) | int -%}
  {%- set missing = versioned_collapsing.get_batches_through(known) | reject('in', landed) -%}
  {%- do return(missing | select('ge', begin) | sort | list) -%}
{% endmacro %}

{# Whether a table can be built from the taken batches alone. The history of a lake table may no longer have the first
   commits. So a change set of a lake is complete only if no target has applied a commit: it is then a snapshot of the
   whole table. #}
{% macro get_is_complete(landed, pending, missing, applied_commits) %}
  {%- set all_are_pending = pending | length == versioned_collapsing.get_batches_through(landed) | length -%}
  {%- do return(all_are_pending and not missing and not applied_commits) -%}
{% endmacro %}

{# A rebuild that lacks applied batches would lose their rows silently. #}
{% macro validate_missing_batches(model, missing) %}
  {%- if missing -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " must be built from the first batch on, but "
        ~ versioned_collapsing.get_batches_text(missing)
        ~ (" was applied and is" if missing | length == 1 else " were applied and are")
        ~ " no longer in the landing zone, so rows would be lost. Land "
        ~ ("it" if missing | length == 1 else "them") ~ " again. To build without "
        ~ ("it" if missing | length == 1 else "them") ~ " permanently: "
        ~ "dbt run " ~ ('--full-refresh ' if should_full_refresh() else '') ~ "--select " ~ model.name
        ~ "+ --vars '{rebuild_from_batch: " ~ (missing[-1] + 1) ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The problems with the variables that name batches, as one error. `through_batch` may name a batch that has not
   landed, because the change sets of one run need not have the same batches. #}
{% macro validate_batch_variables(model, landed) %}
  {%- set problems = [] -%}
  {%- set near = landed | list | last or 1 -%}
  {%- for name in ('through_batch', 'rebuild_from_batch') -%}
    {%- set value = var(name, none) -%}
    {%- if value is not none and not versioned_collapsing._is_batch(value) -%}
      {%- do problems.append(
          name ~ " is '" ~ value ~ "'; it takes the number of a batch: --vars '{" ~ name ~ ": " ~ near ~ "}'."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set again = var('reprocess_batches', none) -%}
  {%- for value in ([again] if again is mapping else versioned_collapsing.as_list(again)) -%}
    {%- do problems.extend(versioned_collapsing._get_reprocessed_batch_problems(value, landed, near)) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change_set') -%}
{% endmacro %}

{% macro _is_batch(value) %}
  {%- do return(modules.re.fullmatch('[0-9]{1,19}', value | string) is not none) -%}
{% endmacro %}

{% macro _get_reprocessed_batch_problems(value, landed, near) %}
  {%- if not versioned_collapsing._is_batch(value) -%}
    {%- do return([
        "reprocess_batches has '" ~ value ~ "'; it takes the number of a batch, or a list of them: "
        ~ "--vars '{reprocess_batches: [" ~ near ~ "]}'."
    ]) -%}
  {%- elif value | int not in landed -%}
    {%- set nearest = versioned_collapsing._get_nearest(landed, value | int) -%}
    {%- do return([
        "reprocess_batches names " ~ value ~ ", which has not landed. "
        ~ ("The nearest landed batch is " ~ nearest ~ "." if landed else "No batch has landed.")
    ]) -%}
  {%- elif value | int not in versioned_collapsing.get_batches_through(landed) -%}
    {%- do return([
        "reprocess_batches names " ~ value ~ ", which is above through_batch (" ~ var('through_batch')
        ~ "). Remove one of the two variables."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}

{% macro _get_nearest(landed, batch) %}
  {%- set nearest = namespace(batch=none) -%}
  {%- for other in landed if nearest.batch is none or (other - batch) | abs < (nearest.batch - batch) | abs -%}
    {%- set nearest.batch = other -%}
  {%- endfor -%}
  {%- do return(nearest.batch) -%}
{% endmacro %}
