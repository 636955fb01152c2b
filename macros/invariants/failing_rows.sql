{# The failing rows of a generic test: what the caller selects, all of whose own names begin with `_dbt_`, with the
   columns `names` shown without that, after those of the user. One that the table, or what else is `taken`, has too
   keeps its prefix. The settings are of an inner query: dbt may put a limit behind this one. #}
{% macro get_failing_rows_sql(names, taken) %}
{%- set own = [] -%}
{%- set shown = [] -%}
{%- for name in names -%}
  {%- set own_name = versioned_collapsing.quote_name('_dbt_' ~ name) -%}
  {%- do own.append(own_name) -%}
  {%- do shown.append(own_name if name in taken else own_name ~ ' as ' ~ versioned_collapsing.quote_name(name)) -%}
{%- endfor -%}
select
  * except ({{ own | join(', ') }}),
  {{ shown | join(',\n  ') }}
from (
  {{ caller() }}
  {{ versioned_collapsing.get_test_settings_sql() }}
) as _dbt_failing
{%- endmacro %}


{# Tests look at the rows that are stored, whatever a profile says of FINAL, and group by columns of any type. #}
{% macro get_test_settings_sql() %}
  {%- do return(versioned_collapsing.get_settings_sql(none, {
      'allow_suspicious_types_in_group_by': 1, 'allow_suspicious_types_in_order_by': 1,
  })) -%}
{% endmacro %}


{# The names of those columns that differ, of which `differs` has the conditions. #}
{% macro get_differing_columns_sql(names, differs) %}
  {%- do return(
      "arrayFilter((_dbt_name, _dbt_differs) -> _dbt_differs, ["
      ~ versioned_collapsing.quote_literals(names) ~ "], [" ~ differs | join(', ') ~ "])"
  ) -%}
{% endmacro %}


{# The conditions that columns have more than one value, nulls counted. #}
{% macro get_columns_differ(names) %}
  {%- set differs = [] -%}
  {%- for name in names -%}
    {%- do differs.append('uniqExact(tuple(' ~ versioned_collapsing.quote_name(name) ~ ')) > 1') -%}
  {%- endfor -%}
  {%- do return(differs) -%}
{% endmacro %}


{# How many of the rows of a group are to be merged away: those that are no part of what the signs leave. #}
{% macro get_waiting_rows_count_sql(sign) %}
  {%- do return('toInt64(count()) - abs(sum(' ~ sign ~ '))') -%}
{% endmacro %}
