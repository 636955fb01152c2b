{# Completes the apply of a run that died after it began to write: its staged changes are still there. What
   it wrote already is found among the uncollapsed rows, or, with a journal, dropped as a repetition. #}
{% macro complete_apply(target, options, unfinished, run) %}
  {%- do versioned_collapsing.validate_staged_tables(target, options, unfinished, run) -%}
  {%- if unfinished.is_journal or unfinished.is_stream -%}
    {%- do versioned_collapsing.validate_views_are_unchanged(
        target, unfinished, versioned_collapsing.read_views(target), run
    ) -%}
  {%- endif -%}
  {%- do log('Completing run ' ~ unfinished.run_id ~ ' on ' ~ target ~ ', which did not finish', info=true) -%}
  {%- do unfinished.update({'started_at': run.started_at, 'lock': run.lock}) -%}
  {%- if unfinished.is_stream -%}
    {%- do versioned_collapsing.complete_stream(target, options, unfinished) -%}
  {%- else -%}
    {%- do versioned_collapsing.complete_chunks(target, options, unfinished) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
{% endmacro %}


{% macro complete_chunks(target, options, unfinished) %}
  {%- set options = dict(options, chunks=unfinished.chunks) -%}
  {%- set columns = versioned_collapsing.read_staged_columns(target, options) -%}
  {%- set truncated_at = versioned_collapsing.get_version_sql(unfinished.truncated_at, options, columns)
      if unfinished.truncated_at else none -%}
  {%- set recorded = versioned_collapsing.read_recorded_counts(target, unfinished) -%}
  {%- do unfinished.update({'read': recorded.counts, 'counts': recorded.counts, 'line_counts': recorded.line_counts,
      'truncated_at': truncated_at}) -%}
  {%- set total = namespace(counts=versioned_collapsing.start_counts(unfinished.read)) -%}
  {%- if unfinished.status != 'chunk applied' -%}
    {%- set counts = versioned_collapsing.complete_chunk(target, options, columns, unfinished) -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, counts) -%}
    {%- if unfinished.chunk < options.chunks -%}
      {%- do versioned_collapsing.record_run(target, unfinished, 'chunk applied', total.counts) -%}
    {%- endif -%}
  {%- endif -%}
  {%- if unfinished.chunk < options.chunks -%}
    {%- do unfinished.update({'is_journal': versioned_collapsing.uses_journal(target, options, unfinished)}) -%}
    {%- do versioned_collapsing.apply_chunks(
        target, options, columns, unfinished, unfinished.chunk + 1, total.counts
    ) -%}
  {%- else -%}
    {%- do versioned_collapsing.record_run(target, unfinished, 'applied', total.counts) -%}
  {%- endif -%}
{% endmacro %}
