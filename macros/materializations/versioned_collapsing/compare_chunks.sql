{# Compares the staged changes with what is stored of their keys. Returns what becomes of them, and how the uncollapsed
   rows are to be read. #}
{% macro compare_chunk(target_relation, options, columns, pairing, rows, progress, apply) %}
  {%- set uncollapsed = versioned_collapsing.stage_uncollapsed_rows(
      target_relation, options, columns, pairing, rows, apply
  ) -%}
  {%- if columns.is_folded -%}
    {%- do versioned_collapsing.resolve_changes(
        target_relation, options, columns, progress.truncated_at, uncollapsed, apply
    ) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.decide_outcomes(target_relation, options, columns, uncollapsed, apply) -%}
  {%- do return({'counts': counts, 'uncollapsed': uncollapsed}) -%}
{% endmacro %}


{# With `on_conflict: error` nothing may be written when any chunk has a conflict: all are compared first. #}
{% macro compare_all_chunks(target_relation, options, columns, progress, apply) %}
  {%- set pairing = versioned_collapsing.read_pairing_expressions(options, columns) -%}
  {%- set all = namespace(counts=progress.counts) -%}
  {%- for chunk in range(1, options.chunks + 1) -%}
    {%- set rows = versioned_collapsing.stage_chunk(target_relation, options, chunk, none, apply) -%}
    {%- set compared = versioned_collapsing.compare_chunk(
        target_relation, options, columns, pairing, rows, progress, apply
    ) -%}
    {%- set all.counts = versioned_collapsing.get_added_counts(all.counts, compared.counts) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.judge_conflicts(target_relation, options, all.counts, 1, apply) -%}
{% endmacro %}


{# Conflicts are an error before anything is written, or a warning when all chunks are compared. #}
{% macro judge_conflicts(target_relation, options, counts, chunk, apply) %}
  {%- if options.on_conflict == 'warn' and chunk == options.chunks -%}
    {%- do versioned_collapsing.warn_of_conflicts(target_relation, options, counts) -%}
  {%- elif options.on_conflict == 'error' and counts.conflicts -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_no_conflicts(target_relation, options, counts, apply) -%}
  {%- endif -%}
{% endmacro %}
