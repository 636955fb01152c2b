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
