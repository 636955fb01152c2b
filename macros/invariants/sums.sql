{# The sums over the rows of a reference, by name, like those that `signed_sums` computes for a table. #}
{% macro get_true_sums_sql(reference, groups, sums, count) %}
  {%- set grouped, summed = [], [] -%}
  {%- for name, expression in groups.items() -%}
    {%- do grouped.append([versioned_collapsing.quote_name(name), expression]) -%}
  {%- endfor -%}
  {%- for name, expression in sums.items() -%}
    {%- do summed.append([versioned_collapsing.quote_name(name), 'sum(' ~ expression ~ ')']) -%}
  {%- endfor -%}
  {%- do summed.append([versioned_collapsing.quote_name(count), 'toInt64(count())']) -%}
  {{ versioned_collapsing.get_sums_sql(reference, grouped, summed) }}
{%- endmacro %}

{# The sums that an aggregate has stored, named by position: `_dbt_sum_1`. #}
{% macro get_kept_sums_sql(aggregate, groups, measures) %}
  select
    {%- for name in groups %}
    {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {%- for name in measures %}
    sum({{ versioned_collapsing.quote_name(name) }}) as _dbt_sum_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
  from {{ aggregate }}
  {%- if groups %}
  group by {{ versioned_collapsing.quote_names(groups) }}
  {%- endif %}
{%- endmacro %}

{# The columns that a comparison of sums shows; `sides` names its two sides, such as `table` and `aggregate`. #}
{% macro get_shown_sums(measures, sides) %}
  {%- set shown = [] -%}
  {%- for name in measures -%}
    {%- do shown.extend([name ~ '_of_' ~ sides.expected, name ~ '_of_' ~ sides.found]) -%}
  {%- endfor -%}
  {%- do return(shown + ['differing_columns', 'failing_condition']) -%}
{% endmacro %}

{# The groups in which the sums of two CTEs differ. Sums have names in `_dbt_expected`, and positions in `_dbt_found`.
   The last of `measures` is the count.

   Each side of the union has null in place of the other side's sums: a union of different types would be a Variant. #}
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

{# The names of the columns that a projection stores. ClickHouse names them after the expressions of its query, so the
   same query on the table shows them. #}
{% macro read_projected_names(table, groups, sums) %}
  {%- set columns = versioned_collapsing.get_projected_columns(groups, sums, table.sign) -%}
  {%- if not table.is_collapsing -%}{%- do return(columns.all) -%}{%- endif -%}
  {%- set query = 'select ' ~ columns.all | join(', ') ~ ' from ' ~ table.relation
      ~ (' group by ' ~ columns.groups | join(', ') if columns.groups else '')
      ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- do return(adapter.get_column_schema_from_query(query) | map(attribute='name') | list) -%}
{% endmacro %}

{# The sums that an aggregating projection has stored, named by position: `_dbt_sum_1`. #}
{% macro get_projection_sums_sql(relation, projection, groups, stored) %}
  {%- set place = [relation.schema, relation.identifier, projection] -%}
  {%- set group_names = stored[:groups | length] -%}
  select
    {%- for name in groups %}
    {{ versioned_collapsing.quote_name(stored[loop.index0]) }} as {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {%- for name in stored[groups | length:] %}
    sumMerge({{ versioned_collapsing.quote_name(name) }}) as _dbt_sum_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
  from mergeTreeProjection({{ versioned_collapsing.quote_literals(place) }})
  {%- if groups %}
  group by {{ versioned_collapsing.quote_names(group_names) }}
  {%- endif %}
{%- endmacro %}

{# The rows of a table, for `from`, read without projections: no projection has `_part_offset`. #}
{% macro get_rows_without_projections(table) %}
  {%- set stored = '(select * from ' ~ table.relation ~ ' where _part_offset >= 0) as _dbt_stored' -%}
  {%- do return(stored if table.is_collapsing else table.relation) -%}
{% endmacro %}
