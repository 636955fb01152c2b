{# Completes the apply of a run that died after it began to write: its staged changes are still there. What
   it wrote already is found among the uncollapsed rows, or, with a journal, dropped as a repetition. #}
{% macro recover_apply(target_relation, options, unfinished, apply) %}
  {%- set missing = versioned_collapsing.read_missing_tables(target_relation, unfinished) -%}
  {%- do versioned_collapsing.validate_staged_tables(target_relation, unfinished, missing, apply) -%}
  {%- if unfinished.is_journal or unfinished.is_stream -%}
    {%- set views = versioned_collapsing.read_views(target_relation) -%}
    {%- do versioned_collapsing.validate_views_are_unchanged(target_relation, unfinished, views, apply) -%}
  {%- endif -%}
  {%- do log(
      'Completing run ' ~ unfinished.run_id ~ ' on ' ~ target_relation ~ ', which was interrupted', info=true
  ) -%}
  {%- set resumed = versioned_collapsing.resume_apply(apply, unfinished) -%}
  {%- set progress = versioned_collapsing.get_progress_of(unfinished) -%}
  {%- if unfinished.is_stream -%}
    {%- do versioned_collapsing.complete_stream(target_relation, options, progress, resumed) -%}
  {%- else -%}
    {%- do versioned_collapsing._recover_chunks(
        target_relation, dict(options, chunks=unfinished.chunks), unfinished, progress, resumed
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target_relation) -%}
{% endmacro %}


{# The chunk at which the run died, unless it was done, and those after it. #}
{% macro _recover_chunks(target_relation, options, unfinished, progress, apply) %}
  {%- set columns = versioned_collapsing.read_staged_columns(target_relation, options) -%}
  {%- set recorded = versioned_collapsing.read_recorded_counts(target_relation, apply) -%}
  {%- set progress = dict(
      progress,
      counts=versioned_collapsing.get_initial_counts(recorded.counts),
      line_counts=recorded.line_counts,
      truncated_at=versioned_collapsing.get_version_sql(unfinished.truncated_at, options, columns)
          if unfinished.truncated_at else none
  ) -%}
  {%- set is_last = progress.chunk == options.chunks -%}
  {%- if unfinished.status != 'chunk applied' -%}
    {%- set counts = versioned_collapsing.complete_chunk(target_relation, options, columns, progress, apply) -%}
    {%- set progress = dict(progress, counts=versioned_collapsing.get_added_counts(progress.counts, counts)) -%}
    {%- if not is_last -%}
      {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'chunk applied') -%}
    {%- endif -%}
  {%- endif -%}
  {%- if is_last -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'applied') -%}
  {%- else -%}
    {%- set prepared = versioned_collapsing.prepare_publishing(target_relation, options, apply) -%}
    {%- set next = dict(progress, chunk=progress.chunk + 1, block=0, **prepared) -%}
    {%- do versioned_collapsing.apply_chunks(target_relation, options, columns, none, next, apply) -%}
  {%- endif -%}
{% endmacro %}
