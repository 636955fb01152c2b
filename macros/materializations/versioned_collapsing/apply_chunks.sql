{# Applies what is staged, from a chunk on. Each chunk is a change set of its own, from its uncollapsed rows to its
   tombstones; the ledger says which of them are done. #}
{% macro apply_chunks(target, options, columns, run, first_chunk, counts_before) %}
  {%- set total = namespace(counts=counts_before) -%}
  {%- set chunked = namespace(rows=versioned_collapsing.read_row_count_before_chunk(target, options, first_chunk)) -%}
  {%- set is_worth_recording = run.is_worth_recording or run.batches or run.read.rows_read -%}
  {%- for chunk in range(first_chunk, options.chunks + 1) -%}
    {%- do run.update({'chunk': chunk}) -%}
    {%- if options.chunks > 1 -%}
      {%- do versioned_collapsing.stage_chunk(target, options, chunk, run) -%}
      {%- set chunked.rows = chunked.rows + versioned_collapsing.read_staged_row_count(target) -%}
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
      {%- do log(
          target ~ ': chunk ' ~ chunk ~ ' of ' ~ options.chunks ~ ' applied, '
          ~ versioned_collapsing.format_count(counts['keys'], 'key') ~ ', '
          ~ versioned_collapsing.format_count(counts.states, 'state') ~ ', '
          ~ versioned_collapsing.format_count(counts.cancels, 'cancel'), info=true
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.warn_of_unmerged_changes(target, total.counts) -%}
  {%- if is_worth_recording -%}
    {%- do versioned_collapsing.record_run(target, run, 'applied', total.counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
  {%- do return(total.counts) -%}
{% endmacro %}


{# With `on_conflict: error` nothing may be written when any chunk has a conflict: all are compared first. #}
{% macro refuse_conflicts_of_all_chunks(target, options, columns, run) %}
  {%- set total = namespace(counts=versioned_collapsing.start_counts(run.read)) -%}
  {%- for chunk in range(1, options.chunks + 1) -%}
    {%- do versioned_collapsing.stage_chunk(target, options, chunk, run) -%}
    {%- do versioned_collapsing.stage_uncollapsed_rows(target, options, columns, run) -%}
    {%- if columns.is_folded -%}
      {%- do versioned_collapsing.resolve_changes(target, options, columns, run) -%}
    {%- endif -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, versioned_collapsing.count_outcomes(target,
        options, columns, run)) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.report_conflicts(target, options, total.counts, run, 1) -%}
{% endmacro %}
