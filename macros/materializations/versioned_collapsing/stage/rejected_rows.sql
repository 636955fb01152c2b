{# The problems that rows of the change set have, each with how many have it, and keys and versions of some. #}
{% macro read_rejected_rows(options, columns, sql, truncated_at, apply) %}
  {%- set shown = versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version]) -%}
  {%- set query -%}
    select
      _dbt_problem,
      count() as _dbt_n,
      arrayStringConcat(groupArray(3)({{ shown }}), ', ') as _dbt_sample
    from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at) }})
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
