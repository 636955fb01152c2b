{# Decides chunk by chunk which rows the changes require, from the chunk in `progress` on. A chunk is a range of keys
   to which the column `_dbt_chunk` of the staged changes gives a number. Each is looked up separately, so that its
   memory is bounded. Nothing is published yet. Returns the counts of all chunks. #}
{% macro decide_chunks(target_relation, options, columns, progress, apply) %}
  {%- set pairing = versioned_collapsing.read_pairing_expressions(options, columns) -%}
  {%- set options = dict(options, changes='folded' if columns.is_folded and progress.is_repeated else 'input') -%}
  {%- set done = namespace(counts=progress.counts) -%}
  {%- for chunk in versioned_collapsing.read_chunks(target_relation, options, progress) -%}
    {%- set counts = versioned_collapsing.decide_chunk(
        target_relation, dict(options, chunk=chunk.number), columns, pairing, chunk.row_count, not loop.first, progress,
        apply
    ) -%}
    {%- set done.counts = versioned_collapsing.get_added_counts(done.counts, counts) -%}
    {%- if not loop.last -%}
      {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
      {%- set output = versioned_collapsing.read_row_count(signed) -%}
      {%- do versioned_collapsing.validate_output_rows(target_relation, done.counts, output, apply) -%}
      {%- do versioned_collapsing.end_chunk(
          target_relation, options, counts, dict(progress, chunk=chunk.number, counts=done.counts), apply
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if not progress.is_repeated -%}
    {%- do versioned_collapsing.judge_conflicts(target_relation, options, done.counts, apply) -%}
    {%- do versioned_collapsing.warn_of_unmerged_changes(target_relation, done.counts) -%}
    {%- do versioned_collapsing.warn_of_late_changes(target_relation, done.counts, apply) -%}
  {%- endif -%}
  {%- do return(done.counts) -%}
{% endmacro %}

{# The chunks that have changes, from the one in `progress` on, each with its number of changes. #}
{% macro read_chunks(target_relation, options, progress) %}
  {%- if options.chunks == 1 -%}
    {%- do return([{'number': 1, 'row_count': progress.change_count}]) -%}
  {%- endif -%}
  {%- set query -%}
    select _dbt_chunk as _dbt_number, count() as _dbt_n
    from {{ versioned_collapsing.get_helper_relation(target_relation, options.changes) }}
    where _dbt_chunk >= {{ progress.chunk }}
    group by _dbt_chunk
    order by _dbt_chunk
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set chunks = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do chunks.append({'number': row['_dbt_number'] | int, 'row_count': row['_dbt_n'] | int}) -%}
  {%- endfor -%}
  {%- do return(chunks or [{'number': options.chunks, 'row_count': 0}]) -%}
{% endmacro %}

{# Compares the staged changes with the stored rows of their keys, and gathers the rows to write. #}
{% macro decide_chunk(target_relation, options, columns, pairing, row_count, is_filled, progress, apply) %}
  {%- do versioned_collapsing.stage_uncollapsed_rows(
      target_relation, options, columns, pairing, row_count, is_filled, apply
  ) -%}
  {%- if columns.is_folded and not progress.is_repeated -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {%- set truncated_at = progress.truncated_at -%}
    {% call statement('resolve_changes') -%}
      {{ versioned_collapsing.get_resolve_changes_sql(target_relation, options, columns, truncated_at, apply) }}
    {%- endcall %}
    {%- set options = dict(options, changes='folded') -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.decide_outcomes(target_relation, options, columns, apply) -%}
  {%- if counts.has_writes -%}
    {%- do versioned_collapsing.stage_rows_to_write(target_relation, options, columns, counts, apply) -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}

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

{# Raises an error for conflicts before anything is published, or warns of them. #}
{% macro judge_conflicts(target_relation, options, counts, apply) %}
  {%- if apply.has_reprocessed and counts.columns_to_fill -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_nothing_to_fill(target_relation, counts, apply) -%}
  {%- elif options.on_conflict == 'warn' -%}
    {%- do versioned_collapsing.warn_of_conflicts(target_relation, options, counts, apply) -%}
  {%- elif counts.conflicts -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_no_conflicts(target_relation, options, counts, apply) -%}
  {%- endif -%}
{% endmacro %}

{# Removes what the run that died has output of the chunk in which it died. #}
{% macro drop_output_of_chunk(target_relation, options, columns, progress, apply) %}
  {%- set input = versioned_collapsing.get_helper_relation(target_relation, 'input') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set outputs = ['signed'] + (['deletes'] if apply.remembers_deletes else [])
      + (['folded'] if columns.is_folded else []) -%}
  {%- for role in outputs -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {%- do run_query(
        'alter table ' ~ versioned_collapsing.get_helper_relation(target_relation, role) ~ ' delete where (' ~ key
        ~ ') in (select ' ~ key ~ ' from ' ~ input ~ ' where _dbt_chunk = (select min(_dbt_chunk) from ' ~ input
        ~ ' where _dbt_chunk >= ' ~ progress.chunk ~ ')) '
        ~ versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 1})
    ) -%}
  {%- endfor -%}
{% endmacro %}

{# Makes sure that the tables to which each chunk adds exist and are empty. #}
{% macro prepare_output(target_relation, options, columns, progress, apply) %}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- do versioned_collapsing.prepare_attachable(signed, target_relation, apply, is_new=true) -%}
  {%- if options.remember_deletes -%}
    {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
    {%- set deletes = versioned_collapsing.get_helper_relation(target_relation, 'deletes') -%}
    {%- do versioned_collapsing.prepare_attachable(deletes, tombstones, apply) -%}
  {%- endif -%}
  {%- if columns.is_folded and not progress.is_repeated -%}
    {%- set folded = versioned_collapsing.get_helper_relation(target_relation, 'folded') -%}
    {%- do versioned_collapsing.prepare_staged_table(
        folded, versioned_collapsing.get_create_staged_changes_sql(folded, options, columns), apply
    ) -%}
  {%- endif -%}
{% endmacro %}
