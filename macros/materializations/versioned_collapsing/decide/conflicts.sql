{# Keys and versions of a few conflicts: changes with the version of a stored row and another payload. #}
{% macro get_conflicts_sql(target_relation, options, columns, uncollapsed, apply) -%}
  select
    {{ versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version], '_dbt_changed') }}
      as _dbt_conflict
  {{ versioned_collapsing._get_conflicting_rows_sql(target_relation, options, columns, uncollapsed) }}
  order by _dbt_conflict
  limit 3
  {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}


{# The columns of conflicts in which the stored row has its type's default and the change has a value, if the two differ
   in no other column. So it is when a column was added after the change had been applied. #}
{% macro read_columns_to_fill(target_relation, options, columns, uncollapsed, apply) %}
  {%- set names = [] -%}
  {%- set is_filled = [] -%}
  {%- for column in columns.table if column.name in columns.payload -%}
    {%- set values = {} -%}
    {%- set default = 'defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(column.type) ~ ')' -%}
    {%- for side, value in {'changed': '_dbt_changed.' ~ adapter.quote(column.name), 'default': default,
        'stored': '_dbt_stored.' ~ adapter.quote(column.name)}.items() -%}
      {%- do values.update({side: 'tuple(' ~ versioned_collapsing.get_comparable_sql(value, column.type) ~ ')'}) -%}
    {%- endfor -%}
    {%- set differs = 'not (' ~ values.changed ~ ' <=> ' ~ values.stored ~ ')' -%}
    {%- do names.append('if(' ~ differs ~ ', ' ~ versioned_collapsing.quote_literal(column.name) ~ ", '')") -%}
    {%- do is_filled.append('(not ' ~ differs ~ ' or ' ~ values.stored ~ ' <=> ' ~ values.default ~ ')') -%}
  {%- endfor -%}
  {%- set query -%}
    select arraySort(arrayFilter(
      _dbt_each -> _dbt_each <> '',
      groupUniqArrayArrayIf([{{ names | join(', ') }}], {{ is_filled | join(' and ') }})
    )) as _dbt_names
    {{ versioned_collapsing._get_conflicting_rows_sql(target_relation, options, columns, uncollapsed) }}
    {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
  {%- endset -%}
  {%- do return(versioned_collapsing.parse_array(run_query(query).rows[0]['_dbt_names'])) -%}
{% endmacro %}


{% macro _get_conflicting_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  from (
    select *
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
    where not _dbt_is_deleted and not _dbt_is_tombstoned
      and ({{ key }}) not in (select {{ key }} from {{ torn }})
  ) as _dbt_changed
  inner join (
    select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  where _dbt_changed.{{ version }} = _dbt_stored.{{ version }}
    and not ({{ versioned_collapsing._get_same_payload_sql('_dbt_changed', '_dbt_stored', columns) }})
{%- endmacro %}
