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
    {%- if chunk < options.chunks -%}
      {%- set output = versioned_collapsing.read_row_count(signed) -%}
      {%- do versioned_collapsing.validate_output_rows(target_relation, done.counts, output, apply) -%}
      {%- do versioned_collapsing.end_chunk(
          target_relation, options, counts, dict(progress, chunk=chunk, counts=done.counts), apply
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_chunks(target_relation, options, progress.change_count, done.rows, apply) -%}
  {%- if not progress.is_repeated -%}
    {%- do versioned_collapsing.judge_conflicts(target_relation, options, done.counts, apply) -%}
    {%- do versioned_collapsing.warn_of_unmerged_changes(target_relation, done.counts) -%}
    {%- do versioned_collapsing.warn_of_late_changes(target_relation, done.counts, apply) -%}
  {%- endif -%}
  {%- do return(done.counts) -%}
{% endmacro %}


{# Compares the staged changes with the stored rows of their keys, and gathers the rows to write. #}
{% macro decide_chunk(target_relation, options, columns, pairing, rows, chunk, progress, apply) %}
  {%- set is_filled = chunk > progress.chunk -%}
  {%- do versioned_collapsing.stage_uncollapsed_rows(
      target_relation, options, columns, pairing, rows, is_filled, apply
  ) -%}
  {%- if columns.is_folded and not progress.is_repeated -%}
    {%- do versioned_collapsing.resolve_changes(
        target_relation, options, columns, progress.truncated_at, is_filled, apply
    ) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.decide_outcomes(target_relation, options, columns, apply) -%}
  {%- if counts.has_writes -%}
    {%- do versioned_collapsing.stage_rows_to_write(target_relation, options, columns, counts, apply) -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The number of changes in earlier chunks, for an apply that is resumed. #}
{% macro read_row_count_before_chunk(target_relation, options, progress) %}
  {%- if progress.chunk == 1 -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, progress.source) -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set boundary = versioned_collapsing.get_boundary_sql(
      source, options, progress.chunk - 1, progress.change_count
  ) -%}
  {%- do return(versioned_collapsing.read_row_count(source, key ~ ' < ' ~ boundary)) -%}
{% endmacro %}


{# The first key after a chunk. The staged changes are stored in the order of the key, so this query sorts nothing. #}
{% macro get_boundary_sql(source, options, chunk, change_count) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  (
    select max(_dbt_boundary)
    from (
      select tuple({{ key }}) as _dbt_boundary
      from {{ source }}
      order by {{ key }}
      limit 1 offset {{ change_count * chunk // options.chunks }}
    )
  )
{%- endmacro %}


{# Stages one chunk of the changes: a range of keys, so that its look-up reads only a part of the table. If there is
   only one chunk, it is staged already. Returns the number of changes in the chunk. #}
{% macro stage_chunk(target_relation, options, columns, chunk, progress, apply) %}
  {%- if options.chunks == 1 -%}
    {%- do return(progress.change_count) -%}
  {%- endif -%}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'input') -%}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, progress.source) -%}
  {%- set names = get_quoted_csv(columns.names)
      ~ (', _dbt_unset, _dbt_is_reset, _dbt_batch, _dbt_unmerged' if columns.is_folded else '')
      ~ ', _dbt_is_deleted, _dbt_is_tombstoned, _dbt_repeats_delete, _dbt_problem' -%}
  {%- do versioned_collapsing.prepare_staged_table(
      changes, versioned_collapsing.get_create_staged_changes_sql(changes, options, columns), apply,
      is_filled=chunk > progress.chunk
  ) -%}
  {% call statement('stage_chunk') -%}
    insert into {{ changes }} ({{ names }})
    select {{ names }}
    from {{ source }}
    where {{ versioned_collapsing.get_chunk_condition_sql(source, options, chunk, progress.change_count) }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
  {%- do return(versioned_collapsing.read_row_count(changes)) -%}
{% endmacro %}


{# The condition that a key lies between two boundaries. The boundaries cut the staged changes into equal parts. #}
{% macro get_chunk_condition_sql(source, options, chunk, change_count) -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set bounds = [] -%}
  {%- if chunk > 1 -%}
    {%- set first = versioned_collapsing.get_boundary_sql(source, options, chunk - 1, change_count) -%}
    {%- do bounds.append(key ~ ' >= ' ~ first) -%}
  {%- endif -%}
  {%- if chunk < options.chunks -%}
    {%- set next = versioned_collapsing.get_boundary_sql(source, options, chunk, change_count) -%}
    {%- do bounds.append(key ~ ' < ' ~ next) -%}
  {%- endif -%}
  {{ bounds | join(' and ') or 'true' }}
{%- endmacro %}


{# If this run dies after the chunk is recorded, the next run continues with the next chunk. If a conflict may stop the
   run at its end, nothing is recorded, and the next run starts again. #}
{% macro end_chunk(target_relation, options, counts, progress, apply) %}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- if options.on_conflict != 'error' and not apply.has_reprocessed and not progress.is_repeated -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'chunk staged') -%}
  {%- endif -%}
  {%- do log(
      versioned_collapsing.get_final_name(target_relation) ~ ': staged chunk ' ~ progress.chunk ~ ' of '
      ~ options.chunks ~ ': ' ~ versioned_collapsing.format_count(counts['keys'], 'key') ~ ', '
      ~ versioned_collapsing.format_count(counts.states, 'state row') ~ ', '
      ~ versioned_collapsing.format_count(counts.cancels, 'cancel row'), info=true
  ) -%}
{% endmacro %}


{# A row that is in no chunk would be lost silently. So the rows of all chunks are counted before anything is
   published. #}
{% macro validate_chunks(target_relation, options, staged, chunked, apply) %}
  {%- if chunked != staged -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The " ~ options.chunks ~ " chunks of " ~ versioned_collapsing.get_final_name(target_relation) ~ " contain "
        ~ chunked ~ " of " ~ versioned_collapsing.format_count(staged, 'staged row') ~ ", because the values of the "
        ~ "key have no reliable order. Nothing was published. Remove the option chunks and rebuild the table: "
        ~ apply.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Raises an error for conflicts before anything is published, or warns of them. #}
{% macro judge_conflicts(target_relation, options, counts, apply) %}
  {%- if apply.has_reprocessed and counts.columns_to_fill -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_nothing_to_fill(target_relation, counts, apply) -%}
  {%- elif options.on_conflict == 'warn' -%}
    {%- do versioned_collapsing.warn_of_conflicts(target_relation, options, counts) -%}
  {%- elif counts.conflicts -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_no_conflicts(target_relation, options, counts, apply) -%}
  {%- endif -%}
{% endmacro %}


{# Removes what this chunk and later ones have output, after a run died in one of them. #}
{% macro drop_output_from_chunk(target_relation, options, progress, apply) %}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, progress.source) -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set boundary = versioned_collapsing.get_boundary_sql(
      source, options, progress.chunk - 1, progress.change_count
  ) -%}
  {%- for role in versioned_collapsing.get_output_roles(apply) -%}
    {%- set output = versioned_collapsing.get_helper_relation(target_relation, role) -%}
    {%- if apply.staged.get(output.identifier) -%}
      {%- do run_query(
          'alter table ' ~ output ~ ' delete where ' ~ key ~ ' >= ' ~ boundary ~ ' '
          ~ versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 1})
      ) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{# The tables to which each chunk adds. #}
{% macro get_output_roles(apply) %}
  {%- do return(['signed', 'whole_folded'] + (['deletes'] if apply.remembers_deletes else [])) -%}
{% endmacro %}


{# Makes sure that the tables to which each chunk adds exist and are empty. #}
{% macro prepare_output(target_relation, options, columns, progress, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- do versioned_collapsing.prepare_attachable(signed, target_relation, apply, is_new=true) -%}
  {%- if options.remember_deletes -%}
    {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
    {%- set deletes = versioned_collapsing.get_helper_relation(target_relation, 'deletes') -%}
    {%- do versioned_collapsing.prepare_attachable(deletes, tombstones, apply) -%}
  {%- endif -%}
  {%- if columns.is_folded and options.chunks > 1 and not progress.is_repeated -%}
    {%- set folded = versioned_collapsing.get_helper_relation(target_relation, 'whole_folded') -%}
    {%- do versioned_collapsing.prepare_staged_table(
        folded, versioned_collapsing.get_create_staged_changes_sql(folded, options, columns), apply
    ) -%}
  {%- endif -%}
{% endmacro %}
