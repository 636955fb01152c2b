{# The counts of a change set of signed rows. #}
{% macro read_signed_row_counts(target_relation, options) %}
  {%- set query -%}
    select
      count() as _dbt_n,
      uniqExact(tuple({{ get_quoted_csv(options.unique_key) }})) as _dbt_keys,
      countIf({{ adapter.quote(options.sign) }} = 1) as _dbt_states
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'signed') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return(versioned_collapsing.get_initial_counts({
      'rows_read': found['_dbt_n'] | int,
      'keys': found['_dbt_keys'] | int,
      'states': found['_dbt_states'] | int,
      'cancels': found['_dbt_n'] | int - found['_dbt_states'] | int,
  })) -%}
{% endmacro %}
