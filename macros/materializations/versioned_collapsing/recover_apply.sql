{# Completes the apply of a run that died, from the tables that it staged. If a table is missing and nothing was
   published yet, returns without completing it: this run then starts again. #}
{% macro recover_apply(target_relation, options, unfinished, apply) %}
  {%- do versioned_collapsing.allow_wide_statements(unfinished.batches) -%}
  {%- set resumed = dict(
      versioned_collapsing.resume_apply(apply, unfinished),
      staged=versioned_collapsing.read_staged_tables(target_relation)
  ) -%}
  {%- set missing = versioned_collapsing.get_missing_tables(target_relation, unfinished, resumed.staged) -%}
  {%- if missing and unfinished.status == 'chunk staged' -%}
    {%- do log(
        'Run ' ~ unfinished.run_id ~ ' on ' ~ target_relation ~ ' was interrupted before it published anything. '
        ~ 'Its chunks cannot be used: ' ~ missing | join(', ') ~ (' is' if missing | length == 1 else ' are')
        ~ ' missing or empty, or the table was altered. This run starts again with its own change set', info=true
    ) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- do versioned_collapsing.validate_staged_tables(target_relation, unfinished, missing, apply) -%}
  {%- if unfinished.is_stream or unfinished.is_journal or unfinished.definition -%}
    {%- set views = versioned_collapsing.read_views(target_relation) -%}
    {%- set changed = versioned_collapsing.get_unfed_views(views, unfinished.definition) -%}
    {%- do versioned_collapsing.validate_views_are_unchanged(target_relation, unfinished, changed, apply) -%}
    {%- set fed = views.definitions.values() | unique | sort -%}
    {%- do versioned_collapsing.warn_of_a_restart(target_relation, unfinished, fed) -%}
  {%- endif -%}
  {%- do log(
      'Completing run ' ~ unfinished.run_id ~ ' on ' ~ target_relation ~ ', which was interrupted', info=true
  ) -%}
  {#- These options are those of the run that died, even if the model has changed since. -#}
  {%- set begun = dict(
      options, chunks=unfinished.chunks,
      remember_deletes=(options.remember_deletes or true) if unfinished.remembers_deletes else false
  ) -%}
  {%- do versioned_collapsing.complete_apply(target_relation, begun, unfinished, resumed) -%}
  {%- do versioned_collapsing.drop_staged(target_relation) -%}
{% endmacro %}


{# If nothing was published yet, decides the remaining chunks. Otherwise finds and publishes the rows that are missing.
   It does so even if all blocks of a journal were written: if ClickHouse was killed after it noted a block and before
   it added all parts of the block, it drops the repeated block, and a part stays missing. #}
{% macro complete_apply(target_relation, options, unfinished, apply) %}
  {%- set progress = versioned_collapsing.get_progress_of(unfinished) -%}
  {%- if unfinished.is_stream -%}
    {%- do return(versioned_collapsing.complete_stream(target_relation, options, progress, apply)) -%}
  {%- endif -%}
  {%- set columns = versioned_collapsing.read_staged_columns(target_relation, options) -%}
  {%- set recorded = versioned_collapsing.read_recorded_counts(target_relation, apply) -%}
  {%- set counts = versioned_collapsing.get_initial_counts(recorded.counts) -%}
  {%- set progress = dict(
      progress,
      line_counts=recorded.line_counts,
      truncated_at=versioned_collapsing.get_version_sql(unfinished.truncated_at, options, columns)
          if unfinished.truncated_at else none
  ) -%}
  {%- if unfinished.status == 'chunk staged' -%}
    {%- do versioned_collapsing.resume_chunks(target_relation, options, columns, counts, progress, apply) -%}
  {%- else -%}
    {%- if unfinished.is_journal -%}
      {%- do versioned_collapsing.complete_journal(target_relation, options, columns, counts, progress, apply) -%}
    {%- endif -%}
    {%- do versioned_collapsing.redo_apply(target_relation, options, columns, counts, progress, apply) -%}
  {%- endif -%}
{% endmacro %}
