{# Stages a change set of signed rows, each with the number of its block. #}
{% macro stage_signed_rows(target_relation, options, columns, sql, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set block_rows = versioned_collapsing.read_block_rows(target_relation) -%}
  {%- do versioned_collapsing.create_signed_rows(target_relation, options, columns) -%}
  {% call statement('stage_signed_rows') -%}
    insert into {{ signed }} ({{ get_quoted_csv(columns.names + [options.sign]) }}, _dbt_problem, _dbt_block)
    select *, intDiv(rowNumberInAllBlocks(), {{ block_rows }})
    from ({{ versioned_collapsing._get_cast_signed_rows_sql(options, columns, sql) }})
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
  {%- set rejected = versioned_collapsing._read_rejected_signed_rows(signed) -%}
  {%- if rejected -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
    {%- do versioned_collapsing.validate_rows_fit(target_relation, options, rejected, apply) -%}
  {%- endif -%}
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


{% macro _read_rejected_signed_rows(signed) %}
  {%- set query -%}
    select _dbt_problem, count() as _dbt_n
    from {{ signed }}
    where _dbt_problem <> ''
    group by _dbt_problem
    order by _dbt_n desc
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set rejected = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do rejected.append({'problem': row['_dbt_problem'], 'n': row['_dbt_n'], 'sample': none}) -%}
  {%- endfor -%}
  {%- do return(rejected) -%}
{% endmacro %}
