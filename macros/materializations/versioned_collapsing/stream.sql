{# `old_state: stream`: the change set holds the state and cancel rows themselves, so that nothing is looked up.
   They are staged, and written as they are; a run that died is completed by repeating its insert. #}
{% macro apply_signed_rows(target, options, columns, sql, run) %}
  {%- do stage_signed_rows(target, options, columns, sql, run) -%}
  {%- do uses_journal(target, options, run) -%}
  {%- set counts = count_signed_rows(target, options) -%}
  {%- if counts.rows_read -%}
    {%- do record_run(target, run, 'started', {}) -%}
    {%- do publish_signed_rows(target, options, columns, run) -%}
  {%- endif -%}
  {%- if counts.rows_read or run.batches -%}
    {%- do record_run(target, run, 'applied', counts) -%}
  {%- endif -%}
  {%- do drop_staged(target) -%}
  {%- do return(counts) -%}
{% endmacro %}


{% macro finish_stream(target, options, unfinished) %}
  {%- set signed = _beside(target, 'signed') -%}
  {%- set table = [] -%}
  {%- for column in adapter.get_columns_in_relation(signed) if column.name not in (options.sign, '_dbt_problem') -%}
    {%- do table.append({'name': column.name, 'type': column.data_type, 'given_type': column.data_type}) -%}
  {%- endfor -%}
  {%- do publish_signed_rows(target, options, describe_columns(options, table, []), unfinished) -%}
  {%- do record_run(target, unfinished, 'applied', count_signed_rows(target, options)) -%}
{% endmacro %}


{% macro stage_signed_rows(target, options, columns, sql, run) %}
  {%- set signed = _beside(target, 'signed') -%}
  {%- set sign = adapter.quote(options.sign) -%}
  {%- do run_query('drop table if exists ' ~ signed) -%}
  {% call statement('create_signed_rows') -%}
    create table {{ signed }} (
      {%- for column in columns.table %}
      {{ adapter.quote(column.name) }} {{ column.type }},
      {%- endfor %}
      {{ sign }} Int8,
      _dbt_problem LowCardinality(String)
    )
    engine = MergeTree
    order by ({{ get_quoted_csv(options.unique_key + [options.version]) }})
  {%- endcall %}
  {% call statement('stage_signed_rows') -%}
    insert into {{ signed }} ({{ get_quoted_csv(columns.names + [options.sign]) }}, _dbt_problem)
    {{ get_cast_signed_rows_sql(options, columns, sql) }}
    settings cast_keep_nullable = 0, {{ get_log_comment_setting(run) }}
  {%- endcall %}
  {%- set problems = run_query(
      "select _dbt_problem as problem, count() as n from " ~ signed ~ " where _dbt_problem <> '' group by _dbt_problem order by n desc"
  ).rows -%}
  {%- if problems -%}
    {%- set lines = [] -%}
    {%- for row in problems -%}
      {%- do lines.append(row['n'] ~ ' rows: ' ~ row['problem']) -%}
    {%- endfor -%}
    {%- do drop_staged(target) -%}
    {%- do give_up_lock(run) -%}
    {%- do exceptions.raise_compiler_error(
        "The change set of " ~ target ~ " has rows that do not fit the table; nothing was written.\n  - " ~ lines | join("\n  - ")
        ~ "\nCorrect them upstream, quarantine them, or declare a wider data_type."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro get_cast_signed_rows_sql(options, columns, sql) -%}
  {%- set sign = 'given.' ~ adapter.quote(options.sign) -%}
  select
    {%- for column in columns.table %}
    {{ get_cast_sql(column) }} as {{ adapter.quote(column.name) }},
    {%- endfor %}
    toInt8(ifNull({{ sign }}, 0)) as {{ adapter.quote(options.sign) }},
    if(ifNull({{ sign }} in (-1, 1), false), {{ get_problem_sql(options, columns) }}, '{{ options.sign }} is not 1 or -1') as _dbt_problem
  from ({{ sql }}) as given
{%- endmacro %}


{% macro publish_signed_rows(target, options, columns, run) %}
  {%- set names = get_quoted_csv(options.unique_key + [options.version] + columns.payload + [options.sign]) -%}
  {% call statement('publish') -%}
    insert into {{ target }} ({{ names }})
    select {{ names }}
    from {{ _beside(target, 'signed') }}
    order by all
    settings {{ get_insert_settings(run, 'publish') }}
  {%- endcall %}
{% endmacro %}


{% macro count_signed_rows(target, options) %}
  {%- set query -%}
    select count() as n, uniqExact(tuple({{ get_quoted_csv(options.unique_key) }})) as entities, countIf({{ adapter.quote(options.sign) }} = 1) as states
    from {{ _beside(target, 'signed') }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set counts = start_counts({}) -%}
  {%- do counts.update({
      'rows_read': found['n'] | int,
      'keys': found['entities'] | int,
      'states': found['states'] | int,
      'cancels': found['n'] | int - found['states'] | int,
  }) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# A signed row must be written once: a batch that the table has is refused. #}
{% macro refuse_applied_batches(target, options, manifest, ledger) %}
  {%- set again = manifest.batches | map(attribute=0) | select('in', ledger.applied_batches) | list -%}
  {%- if again and (options.old_state == 'stream' or options.delete_version == 'ignore') -%}
    {%- set why = 'old_state: stream' if options.old_state == 'stream' else 'delete_version: ignore' -%}
    {%- do exceptions.raise_compiler_error(
        target ~ " has batches " ~ again | sort | join(', ') ~ " of " ~ manifest.change_set ~ " already, and with `" ~ why ~ "` a batch can be applied "
        ~ "once. Build the change set again, which leaves them out: dbt run --select " ~ manifest.change_set ~ "+. To start over: dbt run --full-refresh --select " ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}
