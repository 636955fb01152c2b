{# Applies what is staged, from a chunk on. Each chunk is a change set of its own, from its uncollapsed rows to its
   tombstones; the ledger says which of them are done. Returns the counts of all. #}
{% macro apply_chunks(target_relation, options, columns, change_count, progress, apply) %}
  {%- set is_recorded = apply.is_resumed or apply.batches or progress.counts.rows_read -%}
  {%- set pairing = versioned_collapsing.read_pairing_expressions(options, columns) -%}
  {%- set rows_before = versioned_collapsing.read_row_count_before_chunk(target_relation, options, progress.chunk) -%}
  {%- set done = namespace(counts=progress.counts, rows=rows_before) -%}
  {%- for chunk in range(progress.chunk, options.chunks + 1) -%}
    {%- set rows = versioned_collapsing.stage_chunk(target_relation, options, chunk, change_count, apply) -%}
    {%- set done.rows = done.rows + rows -%}
    {%- if chunk == options.chunks > 1 -%}
      {%- do versioned_collapsing.validate_chunks(target_relation, options, done.rows, apply) -%}
    {%- endif -%}
    {%- set now = dict(progress, chunk=chunk, counts=done.counts) -%}
    {%- set done.counts = versioned_collapsing._apply_chunk(
        target_relation, options, columns, pairing, rows, now, apply, is_recorded
    ) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.warn_of_unmerged_changes(target_relation, done.counts) -%}
  {%- if is_recorded -%}
    {%- set ended = dict(progress, chunk=options.chunks, counts=done.counts) -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, ended, 'applied') -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target_relation) -%}
  {%- do return(done.counts) -%}
{% endmacro %}


{# Returns the counts of the chunks that are done then. #}
{% macro _apply_chunk(target_relation, options, columns, pairing, rows, progress, apply, is_recorded) %}
  {%- set compared = versioned_collapsing.compare_chunk(
      target_relation, options, columns, pairing, rows, progress, apply
  ) -%}
  {%- set counts = compared.counts -%}
  {%- set all_counts = versioned_collapsing.get_added_counts(progress.counts, counts) -%}
  {%- do versioned_collapsing.judge_conflicts(target_relation, options, all_counts, progress.chunk, apply) -%}
  {%- do versioned_collapsing.publish_staged_changes(
      target_relation, options, columns, compared.uncollapsed, counts, progress, apply
  ) -%}
  {%- do versioned_collapsing.renew_lock(apply) -%}
  {%- if options.chunks > 1 and is_recorded -%}
    {%- do versioned_collapsing.record_apply(
        target_relation, apply, dict(progress, counts=all_counts), 'chunk applied'
    ) -%}
    {%- do log(
        target_relation ~ ': applied chunk ' ~ progress.chunk ~ ' of ' ~ options.chunks ~ ': '
        ~ versioned_collapsing.format_count(counts['keys'], 'key') ~ ', '
        ~ versioned_collapsing.format_count(counts.states, 'state row') ~ ', '
        ~ versioned_collapsing.format_count(counts.cancels, 'cancel row'), info=true
    ) -%}
  {%- endif -%}
  {%- do return(all_counts) -%}
{% endmacro %}
