{# The number of rows in the change set, and the sums of the counts that the rows carry. #}
{% macro read_carried_counts(columns, sql, apply) %}
  {%- set names = versioned_collapsing.get_carried_count_names() -%}
  {%- set query -%}
    select
      {%- for name in names %}
      sum({{ versioned_collapsing._count_sql(name, columns) }}) as _dbt{{ name }},
      {%- endfor %}
      count() as _dbt_rows_read
    from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set carried = {'rows_read': found['_dbt_rows_read'] | int} -%}
  {%- for name in names -%}
    {%- do carried.update({name: found['_dbt' ~ name] | int}) -%}
  {%- endfor -%}
  {%- do return(carried) -%}
{% endmacro %}
