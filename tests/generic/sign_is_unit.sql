{# The sign of every row is 1 or -1. If the engine accepts another sign, that row counts twice or not at all, and never
   collapses. #}
{% test sign_is_unit(model, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}

{% call versioned_collapsing.get_failing_rows_sql(['failing_condition'], table.names) %}
  select
    {{ table.listed }},
    {{ table.sign }},
    'the sign is neither 1 nor -1' as _dbt_failing_condition
  from {{ table.relation }}
  where {{ table.sign }} not in (1, -1)
    and {{ versioned_collapsing.get_scope_sql(table, where, sample, partitions) }}
{% endcall %}

{% endtest %}
