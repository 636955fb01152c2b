{# With `old_state: stream`, the change set already holds the state and cancel rows. Nothing is looked up: the rows are
   staged and published as they are. #}
{% macro apply_signed_rows(target_relation, options, columns, sql, truncate, apply) %}
  {%- do versioned_collapsing.warn_of_a_stream_without_batches(target_relation, apply) -%}
  {%- set found = versioned_collapsing.read_signed_rows(options, columns, sql, apply) -%}
  {%- do versioned_collapsing.validate_rows_fit(target_relation, options, found.rejected, apply) -%}
  {%- set progress = dict(versioned_collapsing.get_initial_progress(), truncated_at=truncate.at) -%}
  {%- if not found.rows_read -%}
    {%- do return(versioned_collapsing.record_empty_change_set(target_relation, columns, {}, progress, apply)) -%}
  {%- endif -%}
  {%- do versioned_collapsing.stage_signed_rows(target_relation, options, columns, sql, apply) -%}
  {%- set counts = dict(
      versioned_collapsing.read_signed_row_counts(target_relation, options), forgotten=apply.forgotten, has_writes=true
  ) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, counts=counts), apply
  ) -%}
  {%- do return(counts) -%}
{% endmacro %}

{# Without a change_set model there are no batches, so a run cannot recognize signed rows that an earlier run wrote. #}
{% macro warn_of_a_stream_without_batches(target_relation, apply) %}
  {%- if not apply.has_manifest -%}
    {%- do exceptions.warn(
        versioned_collapsing.get_final_name(target_relation) ~ ": the model does not select from a change_set "
        ~ "model. With `old_state: stream`, each run writes all rows that the model selects, including rows that "
        ~ "earlier runs wrote. Select from a change_set model, which leaves out applied batches, or make sure that the "
        ~ "select returns only new rows."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# How many signed rows the change set has, and the problems of those that do not fit the table. #}
{% macro read_signed_rows(options, columns, sql, apply) %}
  {%- set query -%}
    select _dbt_problem, count() as _dbt_n
    from ({{ versioned_collapsing._get_cast_signed_rows_sql(options, columns, sql) }})
    group by _dbt_problem
    order by _dbt_n desc
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set rows = run_query(query).rows -%}
  {%- set rejected = [] -%}
  {%- for row in rows if row['_dbt_problem'] -%}
    {%- do rejected.append({'problem': row['_dbt_problem'], 'n': row['_dbt_n'], 'sample': none}) -%}
  {%- endfor -%}
  {%- do return({'rows_read': rows | map(attribute='_dbt_n') | map('int') | sum, 'rejected': rejected}) -%}
{% endmacro %}

{% macro _get_cast_signed_rows_sql(options, columns, sql) -%}
  {%- set sign = '_dbt_given.' ~ adapter.quote(options.sign) -%}
  select
    {%- for column in columns.table %}
    {{ versioned_collapsing.get_cast_sql(column) }} as {{ adapter.quote(column.name) }},
    {%- endfor %}
    toInt8(ifNull({{ sign }}, 0)) as {{ adapter.quote(options.sign) }},
    if(
      ifNull({{ sign }} in (-1, 1), false),
      {{ versioned_collapsing.get_problem_sql(options, columns) }},
      {{ versioned_collapsing.quote_literal(options.sign ~ ' is not 1 or -1') }}
    ) as _dbt_problem
  from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
{%- endmacro %}

{# Stages a change set of signed rows, which read_signed_rows has found to fit. #}
{% macro stage_signed_rows(target_relation, options, columns, sql, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.prepare_attachable(signed, target_relation, apply, is_new=true) -%}
  {%- set rows -%}
    select {{ get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) }}
    from ({{ versioned_collapsing._get_cast_signed_rows_sql(options, columns, sql) }})
    where throwIf(_dbt_problem <> '', 'The change set changed while it was read. Nothing was written. Run again') = 0
  {%- endset -%}
  {% call statement('stage_signed_rows') -%}
    {{ versioned_collapsing.get_stage_rows_sql(target_relation, options, columns, rows, apply) }}
  {%- endcall %}
{% endmacro %}
