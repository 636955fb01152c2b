{# Reads up to which version the table was truncated: by the change set, or by an earlier one as the ledger
   says. Adds `truncated_at`, an expression or none, and `truncated_now` to the run. #}
{% macro read_truncate(options, columns, sql, ledger, run) %}
  {%- set known = versioned_collapsing.get_version_sql(ledger.truncated_at, options, columns) if ledger.truncated_at
      else none -%}
  {%- do run.update({'truncated_at': known, 'truncated_now': false, 'truncates': 0, 'truncate_deletes': 0}) -%}
  {%- if '_is_truncate' in columns.given -%}
    {%- set column = columns.table | selectattr('name', 'equalto', options.version) | first -%}
    {%- set query -%}
      select
        countIf(_dbt_is_truncate) as _dbt_n,
        countIf(_dbt_is_truncate and isNull(_dbt_at_version)) as _dbt_without_version,
        toString(cast(maxIf(assumeNotNull(_dbt_at_version), _dbt_is_truncate),
            {{ versioned_collapsing.quote_literal(versioned_collapsing._type_in_utc(column.type)) }})) as _dbt_version
      from (
        select {{ versioned_collapsing._flag_sql('_is_truncate', columns) }} as _dbt_is_truncate,
            {{ versioned_collapsing.get_fitting_sql(column) }} as _dbt_at_version
        from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
      )
      {{ versioned_collapsing.get_settings_sql(run) }}
    {%- endset -%}
    {%- set found = run_query(query).rows[0] -%}
    {%- if found['_dbt_without_version'] | int -%}
      {%- do versioned_collapsing.stop_run(run,
          "The change set of " ~ run.model ~ " has " ~ versioned_collapsing.format_count(found['_dbt_without_version'],
          'row') ~ " with _is_truncate whose " ~ options.version
          ~ " is null or does not fit " ~ column.type ~ "; nothing was written. A truncate needs the version up to "
          ~ "which rows go."
      ) -%}
    {%- elif found['_dbt_n'] | int -%}
      {%- set now = versioned_collapsing.get_version_sql(found['_dbt_version'], options, columns) -%}
      {%- do run.update({
          'truncated_at': 'greatest(' ~ known ~ ', ' ~ now ~ ')' if known else now,
          'truncated_now': true,
          'truncates': found['_dbt_n'] | int,
      }) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
