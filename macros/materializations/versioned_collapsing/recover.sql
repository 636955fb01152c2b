{# Completes the apply of a run that died, from the tables that it staged. If a table is missing and nothing was
   published yet, returns without completing it: this run then starts again. #}
{% macro recover_apply(target_relation, options, unfinished, apply) %}
  {%- do versioned_collapsing.allow_wide_statements(unfinished.batches) -%}
  {%- set resumed = dict(
      versioned_collapsing.get_resumed_apply(apply, unfinished),
      staged=versioned_collapsing.read_tables_beside(target_relation)
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
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.complete_apply(target_relation, begun, unfinished, resumed) -%}
  {%- do versioned_collapsing.drop_staged(target_relation) -%}
{% endmacro %}

{# The staged tables from which an apply would be completed, but which cannot be used: they do not exist, they have no
   rows (for example on another replica), or they cannot be attached any more because the table was altered. Only the
   first one, which has the changes or the signed rows, must have rows: there may be nothing to publish or to remember
   yet. #}
{% macro get_missing_tables(target_relation, unfinished, staged) %}
  {%- set missing = [] -%}
  {%- for role in versioned_collapsing.get_needed_roles(target_relation, unfinished, staged) -%}
    {%- set relation = versioned_collapsing.get_helper_relation(target_relation, role) -%}
    {%- if relation.identifier not in staged or loop.first and not staged[relation.identifier].row_count | int -%}
      {%- do missing.append(relation | string) -%}
    {%- elif role == 'signed' and unfinished.status == 'chunk staged' -%}
      {%- set attachable = versioned_collapsing.get_create_attachable_sql(
          relation, target_relation, staged[target_relation.identifier]
      ) -%}
      {%- if staged[relation.identifier].comment != versioned_collapsing.get_staged_comment(attachable) -%}
        {%- do missing.append(relation | string) -%}
      {%- endif -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(missing) -%}
{% endmacro %}

{# The staged tables that are needed to continue the run that died. #}
{% macro get_needed_roles(target_relation, unfinished, staged) %}
  {%- if unfinished.is_stream -%}{%- do return(['signed']) -%}{%- endif -%}
  {%- set input = staged.get(versioned_collapsing.get_helper_relation(target_relation, 'input').identifier) -%}
  {%- set needed = ['input'] + (['folded'] if input and '_dbt_unmerged' in input.create_table_query else []) -%}
  {%- if unfinished.is_journal or unfinished.status == 'chunk staged' -%}
    {%- do needed.extend(['signed'] + (['deletes'] if unfinished.remembers_deletes else [])) -%}
  {%- endif -%}
  {%- do return(needed) -%}
{% endmacro %}

{# An apply that began to write cannot be completed without what it staged. #}
{% macro validate_staged_tables(target_relation, unfinished, missing, apply) %}
  {%- if missing -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ unfinished.run_id ~ " was interrupted while it published rows to " ~ target_relation
        ~ ", and it cannot be completed: " ~ missing | join(', ')
        ~ (" is" if missing | length == 1 else " are") ~ " missing or empty. "
        ~ ("If that run used another replica, connect dbt to it and run again. Otherwise rebuild"
        if versioned_collapsing.get_replication(target_relation) else "Rebuild")
        ~ " the table: " ~ unfinished.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}

{# It is harmless to repeat a block for views that existed when the run began to write. A view that was created or
   altered since then would receive rows that it already has. #}
{% macro validate_views_are_unchanged(target_relation, unfinished, changed, apply) %}
  {%- if changed -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ unfinished.run_id ~ " was interrupted while it published rows to " ~ target_relation ~ ". "
        ~ ("This materialized view was" if changed | length == 1 else "These materialized views were")
        ~ " created or changed since then: " ~ changed | join(', ') ~ ". Completing the run would write rows twice "
        ~ "into " ~ ("it. Drop it, run again, and build it again." if changed | length == 1
        else "them. Drop them, run again, and build them again.")
    ) -%}
  {%- endif -%}
{% endmacro %}

{# ClickHouse notes the parts of a block before it adds them, and drops a repetition of parts that it has noted. If it
   was killed in between, a part is missing. In the table, a comparison finds the missing rows. In a view, and in a
   table of signed rows, nothing finds them. #}
{% macro warn_of_a_restart(target_relation, unfinished, view_names) %}
  {%- set places = ([target_relation | string] if unfinished.is_stream else []) + view_names -%}
  {%- if unfinished.is_restarted and places -%}
    {%- do exceptions.warn(
        "ClickHouse was restarted after run " ~ unfinished.run_id ~ " began to publish rows to " ~ target_relation
        ~ ". If it was killed during an insert, a part of that insert may be missing. This run completes the other, "
        ~ "but these may lack rows: " ~ places | join(', ') ~ ". Compare "
        ~ ("the table with its source (dbt run-operation reconcile)" if unfinished.is_stream else '')
        ~ (", and " if unfinished.is_stream and view_names else '')
        ~ ("the views with the table, or build them again" if view_names else '') ~ "."
    ) -%}
  {%- endif -%}
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

{# Completes a run of signed rows that died: writes its staged blocks, from the one that the ledger names on. #}
{% macro complete_stream(target_relation, options, progress, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set columns = versioned_collapsing.read_described_columns(signed, options) -%}
  {%- do versioned_collapsing.publish_blocks(target_relation, options, columns, progress, apply) -%}
  {%- set recorded = versioned_collapsing.read_recorded_counts(target_relation, apply).counts -%}
  {%- set counts = dict(
      versioned_collapsing.read_signed_row_counts(target_relation, options), forgotten=recorded.forgotten
  ) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.record_apply(target_relation, apply, dict(progress, counts=counts), 'applied') -%}
{% endmacro %}

{# The columns that an earlier run staged, which may differ from those that the model has now. Columns that the table no
   longer has are left out. #}
{% macro read_staged_columns(target_relation, options) %}
  {%- set stored = versioned_collapsing.read_described_columns(target_relation, options).names -%}
  {%- set table = [] -%}
  {%- set given = [] -%}
  {%- set staged = versioned_collapsing.get_helper_relation(target_relation, 'input') -%}
  {%- for column in versioned_collapsing.read_table_columns(staged) if column.name != options.sign -%}
    {%- if column.name.startswith('_dbt_') -%}
      {%- do given.append(column.name | replace('_dbt', '', 1)) -%}
    {%- elif column.name in stored -%}
      {%- do table.append(dict(column, given_type=column.type)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set columns = versioned_collapsing.get_columns(options, table, given) -%}
  {%- do return(dict(columns, is_folded='_unmerged' in given)) -%}
{% endmacro %}

{# Continues with the chunk after the last one that was recorded. Removes what the run that died has already output
   of it. #}
{% macro resume_chunks(target_relation, options, columns, counts, progress, apply) %}
  {%- set progress = dict(progress, chunk=progress.chunk + 1, block=0, counts=counts) -%}
  {%- do versioned_collapsing.drop_output_of_chunk(target_relation, options, columns, progress, apply) -%}
  {%- set decided = versioned_collapsing.decide_chunks(target_relation, options, columns, progress, apply) -%}
  {%- set all = dict(decided, has_writes=true, has_deletes=true) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, chunk=options.chunks, counts=all, decided=decided), apply
  ) -%}
{% endmacro %}

{# Writes the remaining blocks. From then on, the apply is completed like one whose rows were attached. #}
{% macro complete_journal(target_relation, options, columns, counts, progress, apply) %}
  {%- set all = dict(counts, has_writes=true, has_deletes=true) -%}
  {%- do versioned_collapsing.publish_staged_rows(
      target_relation, options, columns, dict(progress, counts=all), apply
  ) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.record_apply(
      target_relation, apply, dict(progress, is_journal=false, block=0, counts=counts), 'started'
  ) -%}
{% endmacro %}

{# Repeats the decisions of a run that died while it published. Rows that are already stored are found among the
   uncollapsed rows, so only the missing rows are published. If views were created since then, the rows go through a
   journal. #}
{% macro redo_apply(target_relation, options, columns, recorded, progress, apply) %}
  {%- set source = versioned_collapsing.get_helper_relation(
      target_relation, 'folded' if columns.is_folded else 'input'
  ) -%}
  {%- set progress = dict(
      progress, chunk=1, block=0, change_count=versioned_collapsing.read_row_count(source),
      counts=versioned_collapsing.get_initial_counts({}), is_journal=false, is_repeated=true
  ) -%}
  {%- do versioned_collapsing.prepare_output(target_relation, options, columns, progress, apply) -%}
  {%- set missing = versioned_collapsing.decide_chunks(target_relation, options, columns, progress, apply) -%}
  {%- set counts = dict(recorded, has_writes=missing.has_writes, has_deletes=missing.has_deletes) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, chunk=options.chunks, counts=counts, decided=missing), apply
  ) -%}
{% endmacro %}
