{# With `old_state: stream` or `delete_version: ignore`, a batch can be applied only once. So a batch that the table
   already has is refused. A snapshot of a whole lake table is refused if the table has applied any commit before: the
   snapshot has the rows of that commit too. #}
{% macro validate_batches_are_new(target_relation, options, manifest, ledger, apply) %}
  {%- set again = manifest.batches | map(attribute=0) | select('in', ledger.applied_batches) | list -%}
  {%- set begins_anew = manifest.is_lake_as_it_is and manifest.batches and ledger.applied_batches -%}
  {%- if (again or begins_anew) and (options.old_state == 'stream' or options.delete_version == 'ignore') -%}
    {%- set why = 'old_state: stream' if options.old_state == 'stream' else 'delete_version: ignore' -%}
    {%- do versioned_collapsing.stop_run(apply,
        target_relation ~ (
            " already contains " ~ ("batch " if again | length == 1 else "batches ") ~ again | sort | join(', ')
            ~ " of " ~ manifest.change_set if again
            else " has applied earlier commits, and " ~ manifest.change_set ~ " has all rows of the lake table"
        ) ~ ". With `" ~ why ~ "`, a batch can be applied "
        ~ "only once. Build the change set again, so that it leaves out applied batches: dbt run --select "
        ~ manifest.change_set ~ "+. To start over: dbt run --full-refresh --select " ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}

{# A model can apply only one change set, because an apply has one batch manifest. #}
{% macro validate_change_sets(model) %}
  {%- set change_sets = versioned_collapsing.get_change_sets(model) | map(attribute='name') | list -%}
  {%- if change_sets | length > 1 -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        "change set: the model selects from " ~ change_sets | join(' and ') ~ ", but it can apply only one change set. "
        ~ "Select from one of them, or union their inputs in one change_set model."
    ]) -%}
  {%- endif -%}
{% endmacro %}

{# The first apply to a table needs a change set that begins at the first batch, and an empty table. #}
{% macro validate_history(this, existing_relation, is_rebuild, model, manifest, ledger, apply) %}
  {%- if not is_rebuild and not ledger.is_known -%}
    {%- do versioned_collapsing.validate_known_table(existing_relation, model, apply) -%}
  {%- endif -%}
  {%- if is_rebuild or not ledger.has_history -%}
    {%- do versioned_collapsing.validate_complete_manifest(this, manifest, apply) -%}
  {%- endif -%}
{% endmacro %}

{# A table with rows that the ledger does not know was not built by this materialization. #}
{% macro validate_known_table(existing_relation, model, apply) %}
  {%- if versioned_collapsing.read_row_count(existing_relation) -%}
    {%- do versioned_collapsing.stop_run(apply,
        existing_relation ~ " has rows that are not in the ledger. If they are the state and cancel rows of this "
        ~ "model, adopt the table: dbt run-operation adopt_table --args '{model: " ~ model.name ~ "}'. "
        ~ "Otherwise rename it, or rebuild it: " ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}

{# A table is built from the first batch on, or not at all: a change set that begins later, or is a part, would leave
   out rows, and nobody would see it. #}
{% macro validate_complete_manifest(target_relation, manifest, apply) %}
  {%- set begins = target_relation ~ " cannot be built from the start: the change set " ~ manifest.change_set -%}
  {%- if should_full_refresh() and manifest.is_partial and not versioned_collapsing.is_partial_run() -%}
    {%- do versioned_collapsing.stop_run(apply,
        begins ~ " was built by a run with --empty or --sample, so the table would lack rows. Build the change set "
        ~ "and the table: dbt run --full-refresh --select +" ~ manifest.change_set ~ "+"
    ) -%}
  {%- elif not manifest.is_complete and not manifest.is_partial -%}
    {%- do versioned_collapsing.stop_run(apply,
        begins ~ " does not begin at the first batch, so the table would lack rows. Build the change set and the "
        ~ "table: dbt run "
        ~ ('--full-refresh ' if should_full_refresh() else '') ~ "--select " ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}

{# In two cases, a full refresh would remove rows that only a later complete run brings back: if the run reads only a
   part of its input (--empty, --sample), and if the change set has no batches. validate_complete_manifest checks change
   sets that were built as a part. #}
{% macro validate_no_rows_are_lost(existing_relation, is_rebuild, model, manifest, ledger, apply) %}
  {%- set is_part = manifest.is_partial and (versioned_collapsing.is_partial_run() or not manifest.exists) -%}
  {%- set is_empty = manifest.exists and not manifest.is_partial and manifest.is_complete and not manifest.batches -%}
  {%- if is_rebuild and (is_part or is_empty) and ledger.has_history -%}
    {%- do versioned_collapsing.stop_run(apply,
        existing_relation ~ " cannot be rebuilt: " ~ (manifest.change_set or "its select")
        ~ (" is only a part (--empty or --sample)" if manifest.is_partial else " holds no batch")
        ~ ", so the table would lose rows. Rebuild it from all rows: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The batch manifest of the change set that a model selects from: its batches, whether it begins at the first batch,
   whether it is a snapshot of a whole lake table, and whether it is only a part (--empty, --sample). A model that
   selects from something other than a change_set model has no manifest. #}
{% macro read_change_set_manifest(model) %}
  {%- set change_sets = versioned_collapsing.get_change_sets(model) -%}
  {%- set is_partial_run = versioned_collapsing.is_partial_run() -%}
  {%- if not change_sets -%}
    {%- do return({
        'exists': false, 'batches': [], 'line_counts': {}, 'is_complete': true, 'is_partial': is_partial_run,
    }) -%}
  {%- endif -%}
  {%- set relation = versioned_collapsing.get_manifest_relation(change_sets[0]) -%}
  {%- set found = run_query(
      'select * from ' ~ relation ~ ' order by batch ' ~ versioned_collapsing.get_settings_sql()
  ) -%}
  {%- set first = found.rows[0] -%}
  {#- Whole columns: a loop over thousands of rows takes seconds. -#}
  {%- set columns = found.columns.dict() -%}
  {%- set has_batches = first['batch'] is not none -%}
  {%- set is_complete = columns['is_complete'] | select | list | length > 0 -%}
  {%- set lake = versioned_collapsing.get_option(change_sets[0].config, 'lake') -%}
  {%- do return({
      'exists': true,
      'relation': relation,
      'id': first['id'],
      'batches': zip(columns['batch'] | map('int'), columns['hash']) | list if has_batches else [],
      'landed_at': columns['landed_at'] | map('int') | list if has_batches else [],
      'taken_at': first['taken_at'] | int,
      'line_counts': versioned_collapsing._sum_line_counts(columns),
      'change_set': change_sets[0].name,
      'is_complete': is_complete,
      'is_lake_as_it_is': is_complete and lake is not none,
      'is_partial': is_partial_run or columns['is_partial'] | select | list | length > 0,
  }) -%}
{% endmacro %}

{# What a model selects once it has applied its change set: the rows that other relations give with an empty change set.
   None if it reads no others. Signed rows of others would be written again in each run. #}
{% macro read_sql_of_others(model, options, sql) %}
  {%- if model.depends_on.nodes | length == 1 or options.old_state == 'stream' -%}{%- do return(none) -%}{%- endif -%}
  {%- set change_set = versioned_collapsing.get_change_sets(model)[0] -%}
  {%- set rows = adapter.hand_off(change_set.schema, change_set.alias, change_set.config.file_format) | string -%}
  {%- do return(sql | replace(rows, '(select * from ' ~ rows ~ ' where false)') if rows in sql else none) -%}
{% endmacro %}

{# The manifest of a change set, as ClickHouse reads it. #}
{% macro get_manifest_relation(change_set) %}
  {%- do return(adapter.dispatch('get_manifest_relation', 'versioned_collapsing')(change_set)) -%}
{% endmacro %}

{% macro default__get_manifest_relation(change_set) %}
  {%- do versioned_collapsing.validate_change_set_is_readable(change_set, target.type) -%}
{% endmacro %}

{# Only ClickHouse can apply a change set. Other engines call this macro, and it always raises an error. #}
{% macro validate_change_set_is_readable(change_set, engine) %}
  {%- do exceptions.raise_compiler_error(
      change_set.name ~ ": a change set can be applied only on ClickHouse, and this model is built on " ~ engine
      ~ ". Build it on ClickHouse."
  ) -%}
{% endmacro %}

{% macro clickhouse__get_manifest_relation(change_set) %}
  {%- do return(
      adapter.hand_off(change_set.schema, change_set.alias ~ '__manifest', change_set.config.get('file_format'))
  ) -%}
{% endmacro %}

{# The sums of the line counts of all batches in a manifest; none for a count that a batch lacks. #}
{% macro _sum_line_counts(columns) %}
  {%- set counts = {} -%}
  {%- for name in versioned_collapsing.get_line_count_names() -%}
    {%- set values = columns[name] | list -%}
    {%- do counts.update({name: none if none in values else values | map('int') | sum}) -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}
