{# Stages the change set, compares it with what is stored, publishes the difference and records it. Returns
   the counts. #}
{% macro apply_change_set(target, options, columns, sql, run) %}
  {%- do versioned_collapsing.stage_change_set(target, options, columns, sql, run) -%}
  {%- do versioned_collapsing.renew_lock(run) -%}
  {%- do run.update({'read': versioned_collapsing.read_change_set_counts(target, options, columns, sql, run)}) -%}
  {%- if options.on_conflict == 'error' and options.shards > 1 -%}
    {%- do versioned_collapsing.refuse_conflicts_of_all_slices(target, options, columns, run) -%}
  {%- endif -%}
  {%- do run.update({'is_journal': versioned_collapsing.uses_journal(target, options, run)}) -%}
  {%- set counts = versioned_collapsing.apply_slices(target, options, columns, run, 1, versioned_collapsing.start_counts(run.read)) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# Applies what is staged, from a slice on. Each slice is a change set of its own, from its leftovers to its
   tombstones; the ledger says which of them are done. #}
{% macro apply_slices(target, options, columns, run, first_slice, counts_before) %}
  {%- set total = namespace(counts=counts_before) -%}
  {%- set is_worth_recording = run.is_worth_recording or run.batches or run.read.rows_read -%}
  {%- for slice in range(first_slice, options.shards + 1) -%}
    {%- do run.update({'slice': slice}) -%}
    {%- if options.shards > 1 -%}
      {%- do versioned_collapsing.stage_slice(target, options, slice, run) -%}
    {%- endif -%}
    {%- do versioned_collapsing.stage_leftovers(target, options, columns, run) -%}
    {%- if columns.is_folded -%}
      {%- do versioned_collapsing.resolve_changes(target, options, columns, run) -%}
    {%- endif -%}
    {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, run) -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, counts) -%}
    {%- do versioned_collapsing.report_conflicts(target, options, total.counts, run, slice) -%}
    {%- do versioned_collapsing.publish_staged_changes(target, options, columns, run, counts) -%}
    {%- do versioned_collapsing.renew_lock(run) -%}
    {%- if options.shards > 1 and is_worth_recording -%}
      {%- do versioned_collapsing.record_run(target, run, 'slice applied', total.counts) -%}
      {%- do log(target ~ ': slice ' ~ slice ~ ' of ' ~ options.shards ~ ' applied, ' ~ counts['keys'] ~ ' keys, ' ~ counts.states ~ ' states, ' ~ counts.cancels ~ ' cancels', info=true) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.report_unmerged(target, total.counts) -%}
  {%- if is_worth_recording -%}
    {%- do versioned_collapsing.record_run(target, run, 'applied', total.counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
  {%- do return(total.counts) -%}
{% endmacro %}


{# Publishes the difference between the staged changes and what is stored. The staged tables are a snapshot:
   repeating this completes a run that died at any point of it. #}
{% macro publish_staged_changes(target, options, columns, run, counts) %}
  {%- if counts.has_writes -%}
    {%- if run.is_journal -%}
      {%- do versioned_collapsing.stage_rows_to_write(target, options, columns, run, counts) -%}
      {%- do versioned_collapsing.start_publishing(target, run) -%}
      {%- do versioned_collapsing.publish_signed_rows(target, options, columns, run) -%}
    {%- else -%}
      {%- do versioned_collapsing.start_publishing(target, run) -%}
      {%- do versioned_collapsing.publish_directly(target, options, columns, run, counts) -%}
    {%- endif -%}
    {%- do versioned_collapsing.remember_deletes(target, options, run, counts) -%}
  {%- endif -%}
{% endmacro %}


{# From here on a run that dies is completed. #}
{% macro start_publishing(target, run) %}
  {%- do versioned_collapsing.renew_lock(run) -%}
  {%- do run.update({'block': 0}) -%}
  {%- do versioned_collapsing.record_run(target, run, 'started', {}) -%}
{% endmacro %}


{% macro publish_directly(target, options, columns, run, counts) %}
  {% call statement('publish') -%}
    {{ versioned_collapsing.get_insert_rows_sql(target, options, columns, run, versioned_collapsing.get_publish_rows_sql(target, options, columns)) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {% call statement('heal') -%}
      {{ versioned_collapsing.get_insert_rows_sql(target, options, columns, run, versioned_collapsing.get_heal_rows_sql(target, options, columns)) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{% macro remember_deletes(target, options, run, counts) %}
  {%- if options.remember_deletes and counts.has_deletes -%}
    {% call statement('remember_deletes') -%}
      {{ versioned_collapsing.get_remember_deletes_sql(target, options, run) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# Completes the apply of a run that died after it began to write: its staged changes are still there. What
   it wrote already is found among the leftovers, or, with a journal, dropped as a repetition. #}
{% macro finish_unfinished_apply(target, options, run, ledger) %}
  {%- set unfinished = ledger.unfinished -%}
  {%- if unfinished -%}
    {%- do versioned_collapsing.require_staged_tables(target, options, unfinished, run) -%}
    {%- if unfinished.is_journal or unfinished.is_stream -%}
      {%- do versioned_collapsing.refuse_changed_views(target, unfinished, run) -%}
    {%- endif -%}
    {%- do log('Completing run ' ~ unfinished.run_id ~ ' on ' ~ target ~ ', which did not finish', info=true) -%}
    {%- do unfinished.update({'started_at': run.started_at, 'lock': run.lock}) -%}
    {%- if unfinished.is_stream -%}
      {%- do versioned_collapsing.finish_stream(target, options, unfinished) -%}
    {%- else -%}
      {%- do versioned_collapsing.finish_slices(target, options, unfinished) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
{% endmacro %}


{% macro finish_slices(target, options, unfinished) %}
  {%- set options = dict(options, shards=unfinished.slices) -%}
  {%- set columns = versioned_collapsing.get_staged_columns(target, options) -%}
  {%- set truncated_at = versioned_collapsing.get_version_sql(unfinished.truncated_at, options, columns) if unfinished.truncated_at else none -%}
  {%- do unfinished.update({'read': versioned_collapsing.read_staged_counts(target, options, columns), 'truncated_at': truncated_at}) -%}
  {%- set total = namespace(counts=versioned_collapsing.start_counts(unfinished.read)) -%}
  {%- if unfinished.status != 'slice applied' -%}
    {%- set counts = versioned_collapsing.finish_slice(target, options, columns, unfinished) -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, counts) -%}
    {%- if unfinished.slice < options.shards -%}
      {%- do versioned_collapsing.record_run(target, unfinished, 'slice applied', total.counts) -%}
    {%- endif -%}
  {%- endif -%}
  {%- if unfinished.slice < options.shards -%}
    {%- do unfinished.update({'is_journal': versioned_collapsing.uses_journal(target, options, unfinished)}) -%}
    {%- do versioned_collapsing.apply_slices(target, options, columns, unfinished, unfinished.slice + 1, total.counts) -%}
  {%- else -%}
    {%- do versioned_collapsing.record_run(target, unfinished, 'applied', total.counts) -%}
  {%- endif -%}
{% endmacro %}


{# With a journal its blocks are written from the one on that the ledger names. Without, what is missing is
   found anew; views that have come since make a journal of it. #}
{% macro finish_slice(target, options, columns, unfinished) %}
  {%- if unfinished.is_journal -%}
    {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, unfinished) -%}
    {%- do versioned_collapsing.publish_signed_rows(target, options, columns, unfinished, unfinished.block) -%}
    {%- do versioned_collapsing.remember_deletes(target, options, unfinished, counts) -%}
    {%- do return(counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.stage_leftovers(target, options, columns, unfinished) -%}
  {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, unfinished) -%}
  {%- do unfinished.update({'is_journal': versioned_collapsing.uses_journal(target, options, unfinished)}) -%}
  {%- do versioned_collapsing.publish_staged_changes(target, options, columns, unfinished, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The columns of the staged changes of an earlier run, which had perhaps other ones. #}
{% macro get_staged_columns(target, options) %}
  {%- set table = [] -%}
  {%- set given = [] -%}
  {%- for column in adapter.get_columns_in_relation(versioned_collapsing.get_change_set_relation(target, options)) -%}
    {%- if column.name.startswith('_dbt_') -%}
      {%- do given.append(column.name | replace('_dbt', '', 1)) -%}
    {%- else -%}
      {%- do table.append({'name': column.name, 'type': column.data_type, 'given_type': column.data_type}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set columns = versioned_collapsing.describe_columns(options, table, given) -%}
  {%- do return(dict(columns, is_folded='_unmerged' in given)) -%}
{% endmacro %}


{# An apply that began to write cannot be completed without what it staged. #}
{% macro require_staged_tables(target, options, unfinished, run) %}
  {%- set needed = ['signed'] if unfinished.is_stream else ['changes', 'leftovers', 'odd', 'signed'] if unfinished.is_journal else ['changes'] -%}
  {%- if unfinished.status == 'slice applied' -%}
    {%- set needed = ['change_set'] -%}
  {%- elif unfinished.slices > 1 -%}
    {%- do needed.append('change_set') -%}
  {%- endif -%}
  {%- set missing = [] -%}
  {%- for role in needed if load_relation(versioned_collapsing._beside(target, role)) is none -%}
    {%- do missing.append(versioned_collapsing._beside(target, role) | string) -%}
  {%- endfor -%}
  {%- if missing -%}
    {%- do versioned_collapsing.stop_run(run,
        "Run " ~ unfinished.run_id ~ " on " ~ target ~ " died while it wrote, and " ~ missing | join(', ') ~ ", which it would be completed "
        ~ "from, is not there. Rebuild the table: dbt run --full-refresh --select " ~ unfinished.model
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro drop_staged(target) %}
  {%- for role in ('change_set', 'changes', 'resolved', 'leftovers', 'odd', 'signed') -%}
    {%- do run_query('drop table if exists ' ~ versioned_collapsing._beside(target, role)) -%}
  {%- endfor -%}
{% endmacro %}


{# The line that dbt prints for the model. #}
{% macro get_apply_summary(counts, run) %}
  {%- set parts = [] -%}
  {%- for name in versioned_collapsing.get_count_names() if name not in ('rows_read', 'keys') and counts[name] -%}
    {%- do parts.append(counts[name] ~ ' ' ~ name) -%}
  {%- endfor -%}
  {%- set batches = run.batches | map(attribute=0) | list -%}
  {%- set what = 'batch ' ~ batches[0] if batches | length == 1
      else 'batches ' ~ batches | min ~ '-' ~ batches | max if batches
      else 'no new batches' if run.has_manifest else counts.rows_read ~ ' rows' -%}
  {%- set seconds = (modules.datetime.datetime.now(modules.pytz.utc) - run.started_at).total_seconds() -%}
  {%- set rate = ', ' ~ '{:,.0f}'.format(counts['keys'] / seconds) ~ ' keys/s' if counts['keys'] >= 1000 and seconds > 0 else '' -%}
  {%- do return(what ~ ': ' ~ (parts | join(', ') or 'nothing to change') ~ rate) -%}
{% endmacro %}
