{# The change set in the target's types, with a problem for each row that does not fit them. #}
{% macro get_cast_changes_sql(options, columns, sql, truncated_at, has_examples=false) -%}
  select
    {%- for column in columns.table %}
    {{ versioned_collapsing.get_cast_sql(column) }} as {{ adapter.quote(column.name) }},
    {%- endfor %}
    {%- if columns.is_folded %}
    {{ versioned_collapsing._unset_sql(columns) }} as _dbt_unset,
    {{ versioned_collapsing._count_sql('_batch', columns) }} as _dbt_batch,
    {%- endif %}
    {%- if has_examples %}
    {{ versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version], '_dbt_given') }} as _dbt_shown,
    {%- endif %}
    {{ versioned_collapsing._flag_sql(options.is_deleted, columns) }} as _dbt_is_deleted,
    {{ versioned_collapsing._flag_sql('_reset', columns) }} as _dbt_is_reset,
    {{ versioned_collapsing.get_problem_sql(options, columns) }} as _dbt_problem
  from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
  where {{ versioned_collapsing._get_counting_changes_sql(options, columns, truncated_at) }}
{%- endmacro %}


{# The condition that a row is a change that counts: it is no truncate, and no truncate overrides it. #}
{% macro _get_counting_changes_sql(options, columns, truncated_at) -%}
  {%- set conditions = [] -%}
  {%- if '_is_truncate' in columns.given -%}
    {%- do conditions.append('not ' ~ versioned_collapsing._flag_sql('_is_truncate', columns)) -%}
  {%- endif -%}
  {%- if truncated_at -%}
    {%- set or_deleted = ' or _dbt_is_deleted' if options.delete_version == 'ignore' else '' -%}
    {%- set is_above = adapter.quote(options.version) ~ ' > ' ~ truncated_at -%}
    {%- do conditions.append("(_dbt_problem <> ''" ~ or_deleted ~ ' or ' ~ is_above ~ ')') -%}
  {%- endif -%}
  {{ conditions | join(' and ') or 'true' }}
{%- endmacro %}


{# The columns that a change leaves as they are stored: those that it names in `_unset`, and those that the model no
   longer has. #}
{% macro _unset_sql(columns) %}
  {%- set absent = '[' ~ versioned_collapsing.quote_literals(columns.absent) ~ ']' -%}
  {%- do return(
      "cast(arrayConcat(" ~ ("_dbt_given._unset, " if '_unset' in columns.given else '') ~ absent
      ~ "), 'Array(String)')"
  ) -%}
{% endmacro %}
