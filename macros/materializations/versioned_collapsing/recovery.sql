{# Completes the apply of a run that died after it began to write: its staged changes are still there. What
   it wrote already is found among the uncollapsed rows, or, with a journal, dropped as a repetition. #}
{% macro finish_unfinished_apply(target, options, unfinished, run) %}
  {%- do versioned_collapsing.require_staged_tables(target, options, unfinished, run) -%}
  {%- if unfinished.is_journal or unfinished.is_stream -%}
    {%- do versioned_collapsing.refuse_changed_views(target, unfinished, run) -%}
  {%- endif -%}
  {%- do log('Completing run ' ~ unfinished.run_id ~ ' on ' ~ target ~ ', which did not finish', info=true) -%}
  {%- do unfinished.update({'started_at': run.started_at, 'lock': run.lock}) -%}
  {%- if unfinished.is_stream -%}
    {%- do versioned_collapsing.finish_stream(target, options, unfinished) -%}
  {%- else -%}
    {%- do versioned_collapsing.finish_chunks(target, options, unfinished) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
{% endmacro %}


{% macro finish_chunks(target, options, unfinished) %}
  {%- set options = dict(options, chunks=unfinished.chunks) -%}
  {%- set columns = versioned_collapsing.get_staged_columns(target, options) -%}
  {%- set truncated_at = versioned_collapsing.get_version_sql(unfinished.truncated_at, options, columns) if unfinished.truncated_at else none -%}
  {%- set recorded = versioned_collapsing.read_recorded_counts(target, unfinished) -%}
  {%- do unfinished.update({'read': recorded.counts, 'counts': recorded.counts, 'line_counts': recorded.line_counts, 'truncated_at': truncated_at}) -%}
  {%- set total = namespace(counts=versioned_collapsing.start_counts(unfinished.read)) -%}
  {%- if unfinished.status != 'chunk applied' -%}
    {%- set counts = versioned_collapsing.finish_chunk(target, options, columns, unfinished) -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, counts) -%}
    {%- if unfinished.chunk < options.chunks -%}
      {%- do versioned_collapsing.record_run(target, unfinished, 'chunk applied', total.counts) -%}
    {%- endif -%}
  {%- endif -%}
  {%- if unfinished.chunk < options.chunks -%}
    {%- do unfinished.update({'is_journal': versioned_collapsing.uses_journal(target, options, unfinished)}) -%}
    {%- do versioned_collapsing.apply_chunks(target, options, columns, unfinished, unfinished.chunk + 1, total.counts) -%}
  {%- else -%}
    {%- do versioned_collapsing.record_run(target, unfinished, 'applied', total.counts) -%}
  {%- endif -%}
{% endmacro %}


{# With a journal its blocks are written from the one on that the ledger names. Without, what is missing is
   found anew; views that have come since make a journal of it. #}
{% macro finish_chunk(target, options, columns, unfinished) %}
  {%- if unfinished.is_journal -%}
    {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, unfinished) -%}
    {%- do versioned_collapsing.publish_signed_rows(target, options, columns, unfinished, unfinished.block) -%}
    {%- do versioned_collapsing.remember_deletes(target, options, unfinished, counts) -%}
    {%- do return(counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.stage_uncollapsed_rows(target, options, columns, unfinished) -%}
  {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, unfinished) -%}
  {%- do unfinished.update({'is_journal': versioned_collapsing.uses_journal(target, options, unfinished)}) -%}
  {%- do versioned_collapsing.publish_staged_changes(target, options, columns, unfinished, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The columns of the staged changes of an earlier run, which had perhaps other ones. #}
{% macro get_staged_columns(target, options) %}
  {%- set table = [] -%}
  {%- set given = [] -%}
  {%- for column in versioned_collapsing.get_table_columns(versioned_collapsing.get_change_set_relation(target, options)) -%}
    {%- if column.name.startswith('_dbt_') -%}
      {%- do given.append(column.name | replace('_dbt', '', 1)) -%}
    {%- else -%}
      {%- do table.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set columns = versioned_collapsing.describe_columns(options, table, given) -%}
  {%- do return(dict(columns, is_folded='_unmerged' in given)) -%}
{% endmacro %}


{# An apply that began to write cannot be completed without what it staged. #}
{% macro require_staged_tables(target, options, unfinished, run) %}
  {%- set needed = ['signed'] if unfinished.is_stream else ['changes', 'uncollapsed', 'torn', 'signed'] if unfinished.is_journal else ['changes'] -%}
  {%- if unfinished.status == 'chunk applied' -%}
    {%- set needed = ['change_set'] -%}
  {%- elif unfinished.chunks > 1 -%}
    {%- do needed.append('change_set') -%}
  {%- endif -%}
  {%- set missing = [] -%}
  {%- for role in needed if load_relation(versioned_collapsing.get_helper_relation(target, role)) is none -%}
    {%- do missing.append(versioned_collapsing.get_helper_relation(target, role) | string) -%}
  {%- endfor -%}
  {%- if missing -%}
    {%- do versioned_collapsing.stop_run(run,
        "Run " ~ unfinished.run_id ~ " on " ~ target ~ " died while it wrote, and " ~ missing | join(', ') ~ ", which it would be completed "
        ~ "from, is not there. Rebuild the table: " ~ unfinished.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}


{# To repeat a block is harmless for views that were there when the run began to write. A view that is new, or
   was altered, would take in rows that it has got already. #}
{% macro refuse_changed_views(target, unfinished, run) %}
  {%- set changed = [] -%}
  {%- for definition, view in versioned_collapsing.read_views(target).definitions.items() if definition not in unfinished.definition.split(' ') -%}
    {%- do changed.append(view) -%}
  {%- endfor -%}
  {%- if changed -%}
    {%- do versioned_collapsing.stop_run(run,
        "Run " ~ unfinished.run_id ~ " died while it wrote into " ~ target ~ ", and the materialized views " ~ changed | unique | list ~ " have been made or altered "
        ~ "since: what completes the run would double rows in them. Drop them, run again, and build them anew."
    ) -%}
  {%- endif -%}
{% endmacro %}
