{# The manifest of the change set that a model selects from: which batches it holds, whether it goes back to
   the first batch, and whether it is only a part (--empty, --sample). A model that selects from something
   else than a change_set model has none. #}
{% macro read_change_set_manifest(model) %}
  {%- set change_sets = versioned_collapsing.get_change_sets(model) -%}
  {%- if change_sets | length > 1 -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        "change set: the model selects from " ~ change_sets | map(attribute='name') | list ~ ". Select from one change_set "
        ~ "model, or union them before it is made."
    ]) -%}
  {%- endif -%}
  {%- if not change_sets -%}
    {%- do return({'exists': false, 'batches': [], 'line_counts': {}, 'is_complete': true, 'is_partial': versioned_collapsing.is_partial_run()}) -%}
  {%- endif -%}
  {%- set relation = versioned_collapsing.get_manifest_relation(change_sets[0]) -%}
  {%- set rows = run_query('select * from ' ~ relation ~ ' order by batch ' ~ versioned_collapsing.get_settings_sql()).rows -%}
  {%- set batches = [] -%}
  {%- for row in rows if row['batch'] is not none -%}
    {%- do batches.append((row['batch'] | int, row['hash'])) -%}
  {%- endfor -%}
  {%- do return({
      'exists': true,
      'relation': relation,
      'batches': batches,
      'line_counts': versioned_collapsing._sum_line_counts(rows),
      'change_set': change_sets[0].name,
      'is_complete': rows | map(attribute='is_complete') | select | list | length > 0,
      'is_partial': versioned_collapsing.is_partial_run() or rows | map(attribute='is_partial') | select | list | length > 0,
  }) -%}
{% endmacro %}


{# The counts of all batches of a manifest; none where it does not tell of each. #}
{% macro _sum_line_counts(rows) %}
  {%- set counts = {} -%}
  {%- for name in versioned_collapsing.get_line_count_names() -%}
    {%- set values = [] -%}
    {%- for row in rows -%}
      {%- do values.append(row[name] if name in row.keys() else none) -%}
    {%- endfor -%}
    {%- do counts.update({name: none if none in values else values | map('int') | sum}) -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The manifest of a change set, as ClickHouse reads it. #}
{% macro get_manifest_relation(change_set) %}
  {%- do return(adapter.dispatch('get_manifest_relation', 'versioned_collapsing')(change_set)) -%}
{% endmacro %}


{% macro default__get_manifest_relation(change_set) %}
  {%- do exceptions.raise_compiler_error(change_set.name ~ ": change sets are applied on ClickHouse, not on " ~ target.type ~ ".") -%}
{% endmacro %}


{% macro clickhouse__get_manifest_relation(change_set) %}
  {%- do return(adapter.hand_off(change_set.schema, change_set.alias ~ '__manifest', change_set.config.get('file_format'))) -%}
{% endmacro %}


{# A table is built from the first batch on, or not at all: a change set that begins later, or is a part, would leave
   out rows, and nobody would see it. #}
{% macro validate_complete_manifest(target, manifest, run) %}
  {%- if should_full_refresh() and manifest.is_partial and not versioned_collapsing.is_partial_run() -%}
    {%- do versioned_collapsing.stop_run(run,
        target ~ " is to be built from nothing, and the change set " ~ manifest.change_set ~ " was built by a run with --empty or "
        ~ "--sample: the table would lack rows. Build both: dbt run --full-refresh --select +" ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
  {%- if not manifest.is_complete and not manifest.is_partial -%}
    {%- do versioned_collapsing.stop_run(run,
        target ~ " is to be built from nothing, and the change set " ~ manifest.change_set ~ " does not begin at the first batch: "
        ~ "the table would lack rows. Build both: dbt run " ~ ('--full-refresh ' if should_full_refresh() else '') ~ "--select " ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}


{# A full refresh in a run on a part, or from a change set without batches, would leave the table without rows that it
   has: they would be back after a whole run only. validate_complete_manifest sees to change sets that are a part. #}
{% macro refuse_lost_rows(existing, is_rebuild, model, manifest, run) %}
  {%- set is_part = manifest.is_partial and (versioned_collapsing.is_partial_run() or not manifest.exists) -%}
  {%- set is_empty = manifest.exists and not manifest.is_partial and manifest.is_complete and not manifest.batches -%}
  {%- if not is_rebuild or not (is_part or is_empty) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set ledger = versioned_collapsing.read_ledger(existing, model) -%}
  {%- if ledger.has_history -%}
    {%- do versioned_collapsing.stop_run(run,
        existing ~ " is to be rebuilt, and " ~ (manifest.change_set or "its select")
        ~ (" is only a part (--empty, --sample)" if manifest.is_partial else " holds no batch")
        ~ ": the table would lose its rows. Rebuild it from the whole: " ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}


{# A table with rows that the ledger does not know was not built by this materialization. #}
{% macro validate_known_table(existing, model, run) %}
  {%- set rows = run_query('select count() as _dbt_n from ' ~ existing ~ ' ' ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] | int -%}
  {%- if rows -%}
    {%- do versioned_collapsing.stop_run(run,
        existing ~ " has rows, and the ledger knows nothing of them. If the table keeps the state and cancel rows of this model, "
        ~ "adopt it: dbt run-operation adopt_table --args '{model: " ~ model.name ~ "}'. Otherwise move it away, or rebuild it: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
