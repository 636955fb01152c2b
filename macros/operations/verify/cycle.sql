{# A hash that two runs of one cycle share. It covers the truth, the columns, how the keys are cut into ranges, and the
   time zone of the session, in which texts of times are read. #}
{% macro get_cycle_definition(comparison, keys, position, ranges) %}
  {%- do return(local_md5(tojson([
      comparison.truth, comparison.columns.values() | list, keys.live | map(attribute='sql') | list, ranges,
      position.timezone
  ]))) -%}
{% endmacro %}


{# The ranges of the last cycle that are not verified; none if that cycle is complete, or has another definition. #}
{% macro read_ranges_left(comparison, definition) %}
  {%- set left = [] -%}
  {%- for row in run_query(versioned_collapsing.get_ranges_left_sql(comparison, definition)).rows -%}
    {%- do left.append({
        'cycle': row['cycle'] | int,
        'number': row['number'] | int,
        'ranges': row['ranges'] | int,
        'definition': definition,
        'lower': row['lower'],
        'upper': row['upper'],
    }) -%}
  {%- endfor -%}
  {%- do return(left) -%}
{% endmacro %}


{% macro get_ranges_left_sql(comparison, definition) -%}
  {%- set verifications = versioned_collapsing.get_verifications_relation(comparison.table) -%}
  {%- set is_of_table = versioned_collapsing.get_is_verification_sql(comparison) -%}
  select cycle, range as number, ranges, lower, upper
  from {{ verifications }}
  where {{ is_of_table }}
    and status = 'planned'
    and definition = {{ versioned_collapsing.quote_literal(definition) }}
    and cycle = (select max(cycle) from {{ verifications }} where {{ is_of_table }})
    and (cycle, range) not in (
      select cycle, range from {{ verifications }} where {{ is_of_table }} and status = 'verified'
    )
  order by range
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# Begins a cycle: cuts the keys of the table into ranges with about the same number of rows. #}
{% macro plan_cycle(comparison, keys, definition, ranges) %}
  {% call statement('plan_cycle') -%}
    {{ versioned_collapsing.get_plan_cycle_sql(comparison, keys.live, definition, ranges) }}
  {%- endcall %}
{% endmacro %}


{# The bounds are keys of a sample. The first range has no lower bound and the last range has no upper one, so that each
   key of the truth is in a range. #}
{% macro get_plan_cycle_sql(comparison, keys, definition, ranges) -%}
  {%- set verifications = versioned_collapsing.get_verifications_relation(comparison.table) -%}
  {%- set keys_sql = keys | map(attribute='sql') | join(', ') -%}
  insert into {{ verifications }} (
    model, target_uuid, invocation_id, status, at, cycle, definition, truth, range, ranges, lower, upper
  )
  with
    (
      select arraySort(groupArraySample(65536, 1)(tuple({{ keys_sql }})))
      from {{ comparison.table }}
      where not has([{{ versioned_collapsing._get_is_null_sql(keys) }}], true)
    ) as _dbt_sample,
    arrayDistinct(arrayMap(
      _dbt_at -> _dbt_sample[intDiv(_dbt_at * length(_dbt_sample), {{ ranges }}) + 1],
      range(1, toUInt64({{ ranges }}))
    )) as _dbt_cuts,
    arrayMap(_dbt_cut -> toString(_dbt_cut), _dbt_cuts) as _dbt_bounds
  select
    {{ versioned_collapsing.quote_literal(comparison.node.name) }},
    {{ versioned_collapsing.get_table_uuid_sql(comparison.table) }},
    {{ versioned_collapsing.quote_literal(invocation_id) }},
    'planned',
    now64(6, 'UTC'),
    (
      select max(cycle) + 1
      from {{ verifications }}
      where {{ versioned_collapsing.get_is_verification_sql(comparison) }}
    ),
    {{ versioned_collapsing.quote_literals([definition, comparison.truth_text]) }},
    _dbt_range.1,
    length(_dbt_bounds) + 1,
    _dbt_range.2,
    _dbt_range.3
  from (
    select arrayJoin(arrayZip(
      arrayEnumerate(arrayPushBack(_dbt_bounds, '')), arrayPushFront(_dbt_bounds, ''), arrayPushBack(_dbt_bounds, '')
    )) as _dbt_range
  )
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro _get_is_null_sql(keys) %}
  {%- set conditions = [] -%}
  {%- for key in keys -%}{%- do conditions.append('isNull(' ~ key.sql ~ ')') -%}{%- endfor -%}
  {%- do return(conditions | join(', ')) -%}
{% endmacro %}
