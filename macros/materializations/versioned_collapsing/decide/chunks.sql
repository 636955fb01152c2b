{# Decides chunk by chunk which rows the changes require, from the chunk in `progress` on. Each chunk is looked up
   separately, so that its memory is bounded. Nothing is published yet. Returns the counts of all chunks. #}
{% macro decide_chunks(target_relation, options, columns, progress, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set pairing = versioned_collapsing.read_pairing_expressions(options, columns) -%}
  {%- set rows_before = versioned_collapsing.read_row_count_before_chunk(target_relation, options, progress) -%}
  {%- set done = namespace(counts=progress.counts, rows=rows_before) -%}
  {%- for chunk in range(progress.chunk, options.chunks + 1) -%}
    {%- set rows = versioned_collapsing.stage_chunk(target_relation, options, columns, chunk, progress, apply) -%}
    {%- set done.rows = done.rows + rows -%}
    {%- set counts = versioned_collapsing.decide_chunk(
        target_relation, options, columns, pairing, rows, chunk, progress, apply
    ) -%}
    {%- set done.counts = versioned_collapsing.get_added_counts(done.counts, counts) -%}
    {%- if done.counts.has_writes -%}
      {%- set gathered = versioned_collapsing.read_row_count(signed) -%}
      {%- do versioned_collapsing.validate_gathered_rows(target_relation, done.counts, gathered, apply) -%}
    {%- endif -%}
    {%- if chunk < options.chunks -%}
      {%- do versioned_collapsing.end_chunk(
          target_relation, options, counts, dict(progress, chunk=chunk, counts=done.counts), apply
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_chunks(target_relation, options, progress.change_count, done.rows, apply) -%}
  {%- if not progress.is_repeated -%}
    {%- do versioned_collapsing.judge_conflicts(target_relation, options, done.counts, apply) -%}
    {%- do versioned_collapsing.warn_of_unmerged_changes(target_relation, done.counts) -%}
  {%- endif -%}
  {%- do return(done.counts) -%}
{% endmacro %}


{# Compares the staged changes with the stored rows of their keys, and gathers the rows to write. #}
{% macro decide_chunk(target_relation, options, columns, pairing, rows, chunk, progress, apply) %}
  {%- set is_filled = chunk > progress.chunk -%}
  {%- set uncollapsed = versioned_collapsing.stage_uncollapsed_rows(
      target_relation, options, columns, pairing, rows, is_filled, apply
  ) -%}
  {%- if columns.is_folded and not progress.is_repeated -%}
    {%- do versioned_collapsing.resolve_changes(
        target_relation, options, columns, progress.truncated_at, uncollapsed, is_filled, apply
    ) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.decide_outcomes(target_relation, options, columns, uncollapsed, apply) -%}
  {%- if counts.has_writes -%}
    {%- do versioned_collapsing.stage_rows_to_write(target_relation, options, columns, uncollapsed, counts, apply) -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}


{# If this run dies after the chunk is recorded, the next run continues with the next chunk. If a conflict may stop the
   run at its end, nothing is recorded, and the next run starts again. #}
{% macro end_chunk(target_relation, options, counts, progress, apply) %}
  {%- do versioned_collapsing.renew_lock(apply) -%}
  {%- if options.on_conflict != 'error' and not apply.has_retaken and not progress.is_repeated -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'chunk staged') -%}
  {%- endif -%}
  {%- do log(
      target_relation ~ ': staged chunk ' ~ progress.chunk ~ ' of ' ~ options.chunks ~ ': '
      ~ versioned_collapsing.format_count(counts['keys'], 'key') ~ ', '
      ~ versioned_collapsing.format_count(counts.states, 'state row') ~ ', '
      ~ versioned_collapsing.format_count(counts.cancels, 'cancel row'), info=true
  ) -%}
{% endmacro %}


{# Raises an error for conflicts before anything is published, or warns of them. #}
{% macro judge_conflicts(target_relation, options, counts, apply) %}
  {%- if apply.has_retaken and counts.columns_to_fill -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_nothing_to_fill(target_relation, counts, apply) -%}
  {%- elif options.on_conflict == 'warn' -%}
    {%- do versioned_collapsing.warn_of_conflicts(target_relation, options, counts) -%}
  {%- elif counts.conflicts -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_no_conflicts(target_relation, options, counts, apply) -%}
  {%- endif -%}
{% endmacro %}
