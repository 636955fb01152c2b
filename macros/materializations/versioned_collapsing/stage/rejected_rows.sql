{# The problems of rows of the change set. Each comes with the number of its rows, and with keys and versions of some of
   them as they are in the change set. #}
{% macro read_rejected_rows(options, columns, sql, truncated_at, apply) %}
  {%- set changes = versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at, true) -%}
  {%- set query -%}
    select
      _dbt_problem,
      count() as _dbt_n,
      arrayStringConcat(groupArray(3)(_dbt_shown), ', ') as _dbt_sample
    from ({{ changes }})
    where _dbt_problem <> ''
    group by _dbt_problem
    order by _dbt_n desc
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set rejected = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do rejected.append({'problem': row['_dbt_problem'], 'n': row['_dbt_n'], 'sample': row['_dbt_sample']}) -%}
  {%- endfor -%}
  {%- do return(rejected) -%}
{% endmacro %}
