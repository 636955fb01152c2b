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
  {%- set counts = versioned_collapsing.apply_slices(target, options, columns, run, 1) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# Applies what is staged, from a slice on. Each slice is a change set of its own, from its leftovers to its
   tombstones; the ledger says which of them are done. #}
{% macro apply_slices(target, options, columns, run, first_slice) %}
  {%- set total = namespace(counts=versioned_collapsing.start_counts(run.read)) -%}
  {%- for slice in range(first_slice, options.shards + 1) -%}
    {%- do run.update({'slice': slice}) -%}
    {%- if options.shards > 1 -%}
      {%- do versioned_collapsing.stage_slice(target, options, slice) -%}
    {%- endif -%}
    {%- do versioned_collapsing.stage_leftovers(target, options, columns, run) -%}
    {%- if versioned_collapsing.needs_fold(options, columns) -%}
      {%- do versioned_collapsing.resolve_changes(target, options, columns, run) -%}
    {%- endif -%}
    {%- do versioned_collapsing.renew_lock(run) -%}
    {%- set counts = versioned_collapsing.count_outcomes(target, options, columns) -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, counts) -%}
    {%- do versioned_collapsing.report_conflicts(target, options, total.counts, run, slice) -%}
    {%- do versioned_collapsing.publish_staged_changes(target, options, columns, run, counts) -%}
    {%- do versioned_collapsing.renew_lock(run) -%}
    {%- if options.shards > 1 -%}
      {%- do versioned_collapsing.record_run(target, run, 'slice applied', total.counts) -%}
      {%- do log(target ~ ': slice ' ~ slice ~ ' of ' ~ options.shards ~ ' applied, ' ~ counts['keys'] ~ ' keys, ' ~ counts.states ~ ' states, ' ~ counts.cancels ~ ' cancels', info=true) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.report_unmerged(target, total.counts) -%}
  {%- if run.is_worth_recording or run.batches or total.counts.rows_read -%}
    {%- do versioned_collapsing.record_run(target, run, 'applied', total.counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
  {%- do return(total.counts) -%}
{% endmacro %}


{# Publishes the difference between the staged changes and what is stored. The staged tables are a snapshot:
   repeating this completes a run that died at any point of it. #}
{% macro publish_staged_changes(target, options, columns, run, counts) %}
  {%- if counts.has_writes -%}
    {%- do versioned_collapsing.record_run(target, run, 'started', {}) -%}
    {% call statement('publish') -%}
      {{ versioned_collapsing.get_publish_sql(target, options, columns, run) }}
    {%- endcall %}
    {%- if counts.repaired -%}
      {% call statement('heal') -%}
        {{ versioned_collapsing.get_heal_sql(target, options, columns, run) }}
      {%- endcall %}
    {%- endif -%}
    {%- if options.remember_deletes and counts.has_deletes -%}
      {% call statement('remember_deletes') -%}
        {{ versioned_collapsing.get_remember_deletes_sql(target, options) }}
      {%- endcall %}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{# Completes the apply of a run that died after it began to write: its staged changes are still there. What
   it wrote already is found among the leftovers, or, with a journal, dropped as a repetition. #}
{% macro finish_unfinished_apply(target, options, run, ledger) %}
  {%- set unfinished = ledger.unfinished -%}
  {%- if unfinished -%}
    {%- do versioned_collapsing.require_staged_tables(target, options, unfinished) -%}
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
  {%- do unfinished.update({'read': versioned_collapsing.read_staged_counts(target, options)}) -%}
  {%- if unfinished.status == 'started' -%}
    {%- if not unfinished.is_journal -%}
      {%- do versioned_collapsing.stage_leftovers(target, options, columns, unfinished) -%}
    {%- endif -%}
    {%- set counts = versioned_collapsing.count_outcomes(target, options, columns) -%}
    {%- do versioned_collapsing.publish_staged_changes(target, options, columns, unfinished, counts) -%}
    {%- do versioned_collapsing.record_run(target, unfinished, 'slice applied' if unfinished.slice < options.shards else 'applied', versioned_collapsing.add_counts(versioned_collapsing.start_counts(unfinished.read), counts)) -%}
  {%- endif -%}
  {%- if unfinished.slice < options.shards -%}
    {%- do versioned_collapsing.apply_slices(target, options, columns, unfinished, unfinished.slice + 1) -%}
  {%- endif -%}
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
  {%- do return(versioned_collapsing.describe_columns(options, table, given)) -%}
{% endmacro %}


{# An apply that began to write cannot be completed without what it staged. #}
{% macro require_staged_tables(target, options, unfinished) %}
  {%- set needed = ['signed'] if unfinished.is_stream else ['changes', 'leftovers', 'odd'] if unfinished.is_journal else ['changes'] -%}
  {%- if unfinished.slice < unfinished.slices -%}
    {%- do needed.append('change_set') -%}
  {%- endif -%}
  {%- set missing = [] -%}
  {%- for role in needed if load_relation(versioned_collapsing._beside(target, role)) is none -%}
    {%- do missing.append(versioned_collapsing._beside(target, role) | string) -%}
  {%- endfor -%}
  {%- if missing -%}
    {%- do exceptions.raise_compiler_error(
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
