{# The version up to which the table was truncated.

   - at: an expression for the version, or none. It comes from the change set, or from an earlier one that the ledger
     names
   - is_now: whether the change set has a truncate
   - count: how many truncates it has #}
{% macro read_truncate(options, columns, sql, ledger, apply) %}
  {%- set known = versioned_collapsing.get_version_sql(ledger.truncated_at, options, columns)
      if ledger.truncated_at else none -%}
  {%- if '_is_truncate' not in columns.given -%}
    {%- do return({'at': known, 'is_now': false, 'count': 0}) -%}
  {%- endif -%}
  {%- set column = columns.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- set found = run_query(versioned_collapsing._get_truncates_sql(column, columns, sql, apply)).rows[0] -%}
  {%- do versioned_collapsing.validate_truncates(found['_dbt_without_version'] | int, column, apply) -%}
  {%- if not found['_dbt_n'] | int -%}
    {%- do return({'at': known, 'is_now': false, 'count': 0}) -%}
  {%- endif -%}
  {%- set now = versioned_collapsing.get_version_sql(found['_dbt_version'], options, columns) -%}
  {%- do return({
      'at': 'greatest(' ~ known ~ ', ' ~ now ~ ')' if known else now,
      'is_now': true,
      'count': found['_dbt_n'] | int,
  }) -%}
{% endmacro %}


{% macro _get_truncates_sql(column, columns, sql, apply) -%}
  {%- set type = versioned_collapsing.quote_literal(versioned_collapsing.get_utc_type(column.type)) -%}
  select
    countIf(_dbt_is_truncate) as _dbt_n,
    countIf(_dbt_is_truncate and isNull(_dbt_at_version)) as _dbt_without_version,
    toString(cast(maxIf(assumeNotNull(_dbt_at_version), _dbt_is_truncate), {{ type }})) as _dbt_version
  from (
    select
      {{ versioned_collapsing._flag_sql('_is_truncate', columns) }} as _dbt_is_truncate,
      {{ versioned_collapsing.get_fitting_sql(column) }} as _dbt_at_version
    from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
  )
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}
