{# `old_state: stream`: the change set holds the state and cancel rows themselves, so that nothing is looked up.
   They are staged, and written as they are; a run that died is completed by repeating its insert. #}
{% macro apply_signed_rows(target, options, columns, sql, run) %}
  {%- if not run.has_manifest -%}
    {%- do exceptions.warn(
        target ~ ": with `old_state: stream` a select that is of no change_set model is written as it is by each run, rows that were written before too. "
        ~ "Select from a change_set model, which leaves out what is applied, or see to it that the select has new rows only."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.stage_signed_rows(target, options, columns, sql, run) -%}
  {%- do versioned_collapsing.uses_journal(target, options, run) -%}
  {%- set counts = versioned_collapsing.count_signed_rows(target, options) -%}
  {%- if counts.rows_read -%}
    {%- do versioned_collapsing.start_publishing(target, run) -%}
    {%- do versioned_collapsing.publish_signed_rows(target, options, columns, run) -%}
  {%- endif -%}
  {%- if counts.rows_read or run.batches -%}
    {%- do versioned_collapsing.record_run(target, run, 'applied', counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
  {%- do return(counts) -%}
{% endmacro %}


{% macro finish_stream(target, options, unfinished) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target, 'signed') -%}
  {%- set table = [] -%}
  {%- for column in versioned_collapsing.get_table_columns(signed) if column.name not in (options.sign, '_dbt_block', '_dbt_problem') -%}
    {%- do table.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.publish_signed_rows(target, options, versioned_collapsing.describe_columns(options, table, []), unfinished, unfinished.block) -%}
  {%- do versioned_collapsing.record_run(target, unfinished, 'applied', versioned_collapsing.count_signed_rows(target, options)) -%}
{% endmacro %}


{% macro stage_signed_rows(target, options, columns, sql, run) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target, 'signed') -%}
  {%- do versioned_collapsing.create_signed_rows(target, options, columns) -%}
  {% call statement('stage_signed_rows') -%}
    insert into {{ signed }} ({{ get_quoted_csv(columns.names + [options.sign]) }}, _dbt_problem, _dbt_block)
    select *, intDiv(rowNumberInAllBlocks(), {{ versioned_collapsing.get_block_rows(target) }})
    from ({{ versioned_collapsing.get_cast_signed_rows_sql(options, columns, sql) }})
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endcall %}
  {%- set problems = run_query(
      "select _dbt_problem, count() as _dbt_n from " ~ signed ~ " where _dbt_problem <> '' group by _dbt_problem order by _dbt_n desc " ~ versioned_collapsing.get_settings_sql()
  ).rows -%}
  {%- if problems -%}
    {%- set lines = [] -%}
    {%- for row in problems -%}
      {%- do lines.append(versioned_collapsing.format_count(row['_dbt_n'], 'row') ~ ': ' ~ row['_dbt_problem']) -%}
    {%- endfor -%}
    {%- do versioned_collapsing.drop_staged(target) -%}
    {%- do versioned_collapsing.stop_run(run,
        "The change set of " ~ target ~ " has rows that do not fit the table; nothing was written.\n  - " ~ lines | join("\n  - ")
        ~ "\nCorrect them upstream, quarantine them, or declare a wider data_type."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro get_cast_signed_rows_sql(options, columns, sql) -%}
  {%- set sign = '_dbt_given.' ~ adapter.quote(options.sign) -%}
  select
    {%- for column in columns.table %}
    {{ versioned_collapsing.get_cast_sql(column) }} as {{ adapter.quote(column.name) }},
    {%- endfor %}
    toInt8(ifNull({{ sign }}, 0)) as {{ adapter.quote(options.sign) }},
    if(ifNull({{ sign }} in (-1, 1), false), {{ versioned_collapsing.get_problem_sql(options, columns) }}, {{ versioned_collapsing.quote_literal(options.sign ~ ' is not 1 or -1') }}) as _dbt_problem
  from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
{%- endmacro %}


{% macro count_signed_rows(target, options) %}
  {%- set query -%}
    select count() as _dbt_n, uniqExact(tuple({{ get_quoted_csv(options.unique_key) }})) as _dbt_keys, countIf({{ adapter.quote(options.sign) }} = 1) as _dbt_states
    from {{ versioned_collapsing.get_helper_relation(target, 'signed') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set counts = versioned_collapsing.start_counts({}) -%}
  {%- do counts.update({
      'rows_read': found['_dbt_n'] | int,
      'keys': found['_dbt_keys'] | int,
      'states': found['_dbt_states'] | int,
      'cancels': found['_dbt_n'] | int - found['_dbt_states'] | int,
  }) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# A signed row must be written once: a batch that the table has is refused. #}
{% macro refuse_applied_batches(target, options, manifest, ledger, run) %}
  {%- set again = manifest.batches | map(attribute=0) | select('in', ledger.applied_batches) | list -%}
  {%- if again and (options.old_state == 'stream' or options.delete_version == 'ignore') -%}
    {%- set why = 'old_state: stream' if options.old_state == 'stream' else 'delete_version: ignore' -%}
    {%- do versioned_collapsing.stop_run(run,
        target ~ " has batches " ~ again | sort | join(', ') ~ " of " ~ manifest.change_set ~ " already, and with `" ~ why ~ "` a batch can be applied "
        ~ "once. Build the change set again, which leaves them out: dbt run --select " ~ manifest.change_set ~ "+. To start over: dbt run --full-refresh --select " ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}
