{# Reads up to which version the table was truncated: by the change set, or by an earlier one as the ledger
   says. Adds `truncated_at`, an expression or none, and `truncated_now` to the run. #}
{% macro read_truncate(options, columns, sql, ledger, run) %}
  {%- set type = (columns.table | selectattr('name', 'equalto', options.version) | first).type -%}
  {%- set known = "cast('" ~ ledger.truncated_at ~ "', '" ~ versioned_collapsing._escaped(type) ~ "')" if ledger.truncated_at else none -%}
  {%- do run.update({'truncated_at': known, 'truncated_now': false}) -%}
  {%- if '_is_truncate' in columns.given -%}
    {%- set query -%}
      select countIf(is_truncate) as n, toString(maxIf(version, is_truncate)) as version
      from (
        select {{ versioned_collapsing._flag_sql('_is_truncate', columns) }} as is_truncate, accurateCast(assumeNotNull(given.{{ adapter.quote(options.version) }}), '{{ versioned_collapsing._escaped(type) }}') as version
        from ({{ sql }}) as given
      )
    {%- endset -%}
    {%- set found = run_query(query).rows[0] -%}
    {%- if found['n'] | int -%}
      {%- set now = "cast('" ~ found['version'] ~ "', '" ~ versioned_collapsing._escaped(type) ~ "')" -%}
      {%- do run.update({
          'truncated_at': 'greatest(' ~ known ~ ', ' ~ now ~ ')' if known else now,
          'truncated_now': true,
      }) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{# Deletes of every live row at or below the version at which the table was truncated, unless a change above
   it is staged already. #}
{% macro get_stage_truncate_sql(target, options, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set changes = versioned_collapsing.get_change_set_relation(target, options) -%}
  insert into {{ changes }} ({{ key }}, {{ adapter.quote(options.version) }}, _dbt_is_deleted)
  select distinct {{ key }}, {{ run.truncated_at }}, true
  from {{ target }} final
  where {{ adapter.quote(options.sign) }} = 1
    and {{ adapter.quote(options.version) }} <= {{ run.truncated_at }}
    and ({{ key }}) not in (select {{ key }} from {{ changes }})
  settings do_not_merge_across_partitions_select_final = 1, {{ versioned_collapsing.get_log_comment_setting(run) }}
{%- endmacro %}
