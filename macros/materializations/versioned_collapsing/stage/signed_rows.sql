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
      "select _dbt_problem, count() as _dbt_n from " ~ signed ~ " where _dbt_problem <> '' group by _dbt_problem "
      ~ "order by _dbt_n desc " ~ versioned_collapsing.get_settings_sql()
  ).rows -%}
  {%- if problems -%}
    {%- set lines = [] -%}
    {%- for row in problems -%}
      {%- do lines.append(versioned_collapsing.format_count(row['_dbt_n'], 'row') ~ ': ' ~ row['_dbt_problem']) -%}
    {%- endfor -%}
    {%- do versioned_collapsing.drop_staged(target) -%}
    {%- do versioned_collapsing.stop_run(run,
        "The change set of " ~ target ~ " has rows that do not fit the table; nothing was written.\n  - "
        ~ lines | join("\n  - ")
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
    if(ifNull({{ sign }} in (-1, 1), false), {{ versioned_collapsing.get_problem_sql(options, columns) }},
        {{ versioned_collapsing.quote_literal(options.sign ~ ' is not 1 or -1') }}) as _dbt_problem
  from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
{%- endmacro %}


{% macro read_signed_row_counts(target, options) %}
  {%- set query -%}
    select count() as _dbt_n, uniqExact(tuple({{ get_quoted_csv(options.unique_key) }})) as _dbt_keys,
        countIf({{ adapter.quote(options.sign) }} = 1) as _dbt_states
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
