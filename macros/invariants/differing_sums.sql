{# The columns that a comparison of sums shows; `sides` names its sides, as `table` and `aggregate`. #}
{% macro get_shown_sums(measures, sides) %}
  {%- set shown = [] -%}
  {%- for name in measures -%}
    {%- do shown.extend([name ~ '_of_' ~ sides.expected, name ~ '_of_' ~ sides.found]) -%}
  {%- endfor -%}
  {%- do return(shown + ['differing_columns', 'failing_condition']) -%}
{% endmacro %}


{# The groups in which the sums of two CTEs differ: `_dbt_expected` has them by name, `_dbt_found` by place. The last of
   `measures` is the count.

   What the other side says is null: the two may have different types, of which a union would make a Variant. #}
{% macro get_differing_sums_sql(groups, measures, sides, condition) %}
  {%- set group_names = versioned_collapsing.quote_names(groups) -%}
  {%- set differs = [] -%}
  {%- set shown = [] -%}
  {%- for name in measures -%}
    {%- do shown.append({
        'expected': versioned_collapsing.quote_name('_dbt_' ~ name ~ '_of_' ~ sides.expected),
        'found': versioned_collapsing.quote_name('_dbt_' ~ name ~ '_of_' ~ sides.found),
    }) -%}
    {%- do differs.append(shown[-1].expected ~ ' <> ' ~ shown[-1].found) -%}
  {%- endfor -%}
  {%- set count = shown[-1] -%}
  select
    {%- if groups %}
    {{ group_names }},
    {%- endif %}
    {%- for column in shown %}
    ifNull(sum(_dbt_expected_{{ loop.index }}), 0) as {{ column.expected }},
    ifNull(sum(_dbt_found_{{ loop.index }}), 0) as {{ column.found }},
    {%- endfor %}
    {{ versioned_collapsing.get_differing_columns_sql(measures, differs) }} as _dbt_differing_columns,
    multiIf(
      {{ count.expected }} = 0 and {{ count.found }} <> 0,
      {{ versioned_collapsing._get_only_in_sql(sides.found, sides.expected) }},
      {{ count.found }} = 0 and {{ count.expected }} <> 0,
      {{ versioned_collapsing._get_only_in_sql(sides.expected, sides.found) }},
      concat(
        {{ versioned_collapsing.quote_literal('the ' ~ sides.found ~ ' has other values: ') }},
        arrayStringConcat(_dbt_differing_columns, ', ')
      )
    ) as _dbt_failing_condition
  from (
    select
      {%- if groups %}
      {{ group_names }},
      {%- endif %}
      {%- for name in measures %}
      {{ versioned_collapsing.quote_name(name) }} as _dbt_expected_{{ loop.index }},
      null as _dbt_found_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from _dbt_expected

    union all

    select
      {%- if groups %}
      {{ group_names }},
      {%- endif %}
      {%- for name in measures %}
      null as _dbt_expected_{{ loop.index }},
      _dbt_sum_{{ loop.index }} as _dbt_found_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from _dbt_found
  )
  where {{ condition }}
  {%- if groups %}
  group by {{ group_names }}
  {%- endif %}
  having notEmpty(_dbt_differing_columns)
{%- endmacro %}


{% macro _get_only_in_sql(side, other) %}
  {%- do return(
      versioned_collapsing.quote_literal('the ' ~ side ~ ' has the group, but the ' ~ other ~ ' does not')
  ) -%}
{% endmacro %}
