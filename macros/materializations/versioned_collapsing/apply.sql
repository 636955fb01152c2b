{# Stages the change set, compares it with what is stored, publishes the difference and records it. Returns
   the counts. #}
{% macro apply_change_set(target, options, columns, sql, run) %}
  {%- do versioned_collapsing.stage_change_set(target, options, columns, sql, run) -%}
  {%- do versioned_collapsing.renew_lock(run) -%}
  {%- do run.update({'read': versioned_collapsing.read_change_set_counts(target, options, columns, sql, run)}) -%}
  {%- if options.on_conflict == 'error' and options.chunks > 1 -%}
    {%- do versioned_collapsing.refuse_conflicts_of_all_chunks(target, options, columns, run) -%}
  {%- endif -%}
  {%- do run.update({'is_journal': versioned_collapsing.uses_journal(target, options, run)}) -%}
  {%- set counts = versioned_collapsing.apply_chunks(target, options, columns, run, 1, versioned_collapsing.start_counts(run.read)) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# Applies what is staged, from a chunk on. Each chunk is a change set of its own, from its uncollapsed rows to its
   tombstones; the ledger says which of them are done. #}
{% macro apply_chunks(target, options, columns, run, first_chunk, counts_before) %}
  {%- set total = namespace(counts=counts_before) -%}
  {%- set chunked = namespace(rows=versioned_collapsing.count_rows_before_chunk(target, options, first_chunk)) -%}
  {%- set is_worth_recording = run.is_worth_recording or run.batches or run.read.rows_read -%}
  {%- for chunk in range(first_chunk, options.chunks + 1) -%}
    {%- do run.update({'chunk': chunk}) -%}
    {%- if options.chunks > 1 -%}
      {%- do versioned_collapsing.stage_chunk(target, options, chunk, run) -%}
      {%- set chunked.rows = chunked.rows + versioned_collapsing.count_staged_rows(target) -%}
    {%- endif -%}
    {%- if chunk == options.chunks and options.chunks > 1 -%}
      {%- do versioned_collapsing.validate_chunks(target, options, chunked.rows, run) -%}
    {%- endif -%}
    {%- do versioned_collapsing.stage_uncollapsed_rows(target, options, columns, run) -%}
    {%- if columns.is_folded -%}
      {%- do versioned_collapsing.resolve_changes(target, options, columns, run) -%}
    {%- endif -%}
    {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, run) -%}
    {%- do run.update({'counts': total.counts}) -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, counts) -%}
    {%- do versioned_collapsing.report_conflicts(target, options, total.counts, run, chunk) -%}
    {%- do versioned_collapsing.publish_staged_changes(target, options, columns, run, counts) -%}
    {%- do versioned_collapsing.renew_lock(run) -%}
    {%- if options.chunks > 1 and is_worth_recording -%}
      {%- do versioned_collapsing.record_run(target, run, 'chunk applied', total.counts) -%}
      {%- do log(target ~ ': chunk ' ~ chunk ~ ' of ' ~ options.chunks ~ ' applied, ' ~ versioned_collapsing.format_count(counts['keys'], 'key') ~ ', ' ~ versioned_collapsing.format_count(counts.states, 'state') ~ ', ' ~ versioned_collapsing.format_count(counts.cancels, 'cancel'), info=true) -%}
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


{# From here on a run that dies is completed. What was counted so far goes with it. #}
{% macro start_publishing(target, run) %}
  {%- do versioned_collapsing.renew_lock(run) -%}
  {%- do run.update({'block': 0}) -%}
  {%- do versioned_collapsing.record_run(target, run, 'started', run.counts or {}) -%}
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


{% macro drop_staged(target) %}
  {%- for role in ('change_set', 'changes', 'resolved', 'uncollapsed', 'torn', 'signed') -%}
    {%- do run_query('drop table if exists ' ~ versioned_collapsing.get_helper_relation(target, role)) -%}
  {%- endfor -%}
{% endmacro %}


{# The line that dbt prints for the model. #}
{% macro get_apply_summary(counts, run) %}
  {%- set parts = [] -%}
  {%- for name in versioned_collapsing.get_count_names() if name not in ('rows_read', 'keys', 'superseded', 'derived', 'truncates') and counts[name] -%}
    {%- do parts.append(versioned_collapsing.format_count(counts[name], name[:-1]) if name.endswith('s') else counts[name] ~ ' ' ~ name) -%}
  {%- endfor -%}
  {%- set batches = run.batches | map(attribute=0) | list -%}
  {%- set what = 'batch ' ~ batches[0] if batches | length == 1
      else 'batches ' ~ batches | min ~ '-' ~ batches | max if batches
      else 'no new batches' if run.has_manifest else versioned_collapsing.format_count(counts.rows_read, 'row') -%}
  {%- set seconds = (modules.datetime.datetime.now(modules.pytz.utc) - run.started_at).total_seconds() -%}
  {%- set rate = ', ' ~ '{:,.0f}'.format(counts['keys'] / seconds) ~ ' keys/s' if counts['keys'] >= 1000 and seconds > 0 else '' -%}
  {%- do return(what ~ ': ' ~ (parts | join(', ') or 'nothing to change') ~ rate) -%}
{% endmacro %}
