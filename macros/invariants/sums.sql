{# The sums that the rows of a truth come to, by name, as `signed_sums` has those of a table. #}
{% macro get_true_sums_sql(truth, groups, sums, count) %}
  {%- set grouped, summed = [], [] -%}
  {%- for name, expression in groups.items() -%}
    {%- do grouped.append([versioned_collapsing.quote_name(name), expression]) -%}
  {%- endfor -%}
  {%- for name, expression in sums.items() -%}
    {%- do summed.append([versioned_collapsing.quote_name(name), 'sum(' ~ expression ~ ')']) -%}
  {%- endfor -%}
  {%- do summed.append([versioned_collapsing.quote_name(count), 'toInt64(count())']) -%}
  {{ versioned_collapsing.get_sums_sql(truth, grouped, summed) }}
{%- endmacro %}


{# The sums that an aggregate has kept, each as its place: `_dbt_sum_1`. #}
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
