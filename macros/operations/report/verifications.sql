{# The last cycle of `verify`, and the last run of `reconcile`, each with its sums. #}
{% macro get_report_verifications_sql(table, verifications) -%}
  {%- set is_of_table = 'target_uuid = ' ~ versioned_collapsing.get_table_uuid_sql(table) -%}
  select
    if(cycle = 0, 'reconcile', 'verify') as operation,
    cycle as cycle,
    formatDateTime(minIf(at, status <> 'planned'), '%F %T') as first_at,
    formatDateTime(maxIf(at, status <> 'planned'), '%F %T') as last_at,
    uniqExactIf(range, status <> 'planned') as verified,
    any(ranges) as ranges,
    any(truth) as truth,
    argMax(position, at) as position,
    {%- for name in versioned_collapsing.get_verified_names() %}
    sum({{ name }}) as {{ name }},
    {%- endfor %}
    arrayStringConcat(groupArrayIf(differing_keys, differing_keys <> ''), ', ') as differing_keys
  from {{ verifications }}
  where {{ is_of_table }}
    and (
      cycle > 0 and cycle = (select max(cycle) from {{ verifications }} where {{ is_of_table }})
      or cycle = 0 and at = (select max(at) from {{ verifications }} where cycle = 0 and {{ is_of_table }})
    )
  group by cycle
  having verified > 0
  order by cycle
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
