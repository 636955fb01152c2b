{# The live row of a key has the highest version that is stored of it. A lower one means that a change came late and
   was taken for the newest, or that a cancel row hit the wrong version. #}
{% test live_version_is_the_highest(model, unique_key, version=none, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.get_signed_table(model, sign, version, unique_key) -%}
{%- if execute and table.is_collapsing and not table.version -%}
  {%- do exceptions.raise_compiler_error(table.relation ~ " has no version that its engine knows. Say which column it is: `version`.") -%}
{%- endif %}

with versions as (
  select
    {{ table.key }},
    {{ table.version }} as stored_version,
    sum({{ table.sign }}) as net_sign
  from {{ table.relation }}
  where {{ versioned_collapsing.get_scope_sql(table, where, sample, recent_partitions) }}
  group by {{ table.key }}, stored_version
)

select
  {{ table.key }},
  minIf(stored_version, net_sign > 0) as live_version,
  max(stored_version) as highest_version,
  'a version above that of the live row is stored' as failing_condition
from versions
group by {{ table.key }}
having countIf(net_sign > 0) > 0 and live_version < highest_version

{% endtest %}
