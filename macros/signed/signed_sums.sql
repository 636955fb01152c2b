{# Sums of a collapsing table by group, for a view or for the table of a SummingMergeTree view. They always include the
   count of live rows: a SummingMergeTree drops rows whose sums are all 0, and would lose a group whose amounts are 0.

   `group_by` and `sums` map column names to expressions; a list contains columns that keep their names. #}
{% macro signed_sums(relation, group_by, sums, count='live_rows', sign='_sign') %}
  {%- set groups, signed = [], [] -%}
  {%- for name, expression in versioned_collapsing.get_named_expressions(group_by).items() -%}
    {%- do groups.append([versioned_collapsing._get_identifier(name), expression]) -%}
  {%- endfor -%}
  {%- for name, expression in versioned_collapsing.get_named_expressions(sums).items() -%}
    {%- do signed.append([
        versioned_collapsing._get_identifier(name), versioned_collapsing.signed_sum(expression, sign)
    ]) -%}
  {%- endfor -%}
  {%- do signed.append([versioned_collapsing._get_identifier(count), versioned_collapsing.signed_count(sign)]) -%}
  {{ versioned_collapsing.get_sums_sql(relation, groups, signed) }}
{%- endmacro %}

{# `sum(expression)` of the live rows. The spelling is fixed, with the sign last: an aggregating projection matches its
   query by the expression, and `sum(_sign * x)` would be a different one.

   For a join of signed tables, `sign` lists the sign of each: the expression is multiplied by all of them. #}
{% macro signed_sum(expression, sign='_sign') -%}
  sum({{ versioned_collapsing._get_times_sign_sql(expression, sign) }})
{%- endmacro %}

{% macro _get_times_sign_sql(expression, sign) -%}
  {{ versioned_collapsing._get_operand(expression) }} * {{ versioned_collapsing._get_sign_sql(sign) }}
{%- endmacro %}

{# The number of live rows: `count(*)` of the current rows. #}
{% macro signed_count(sign='_sign') -%}
  sum({{ versioned_collapsing._get_sign_sql(sign) }})
{%- endmacro %}

{# `avg(expression)` of the live rows; null for a group without live rows, because dividing a Decimal by 0 throws. With
   `is_nullable`, the average is over the rows that have a value. #}
{% macro signed_avg(expression, sign='_sign', is_nullable=false) -%}
  {%- set rows = versioned_collapsing.signed_count_non_null(expression, sign) if is_nullable
      else versioned_collapsing.signed_count(sign) -%}
  ({{ versioned_collapsing.signed_sum(expression, sign) }} / nullIf({{ rows }}, 0))
{%- endmacro %}

{# `count(expression)` of the live rows: those in which it is not null. #}
{% macro signed_count_non_null(expression, sign='_sign') -%}
  {{ versioned_collapsing.signed_count_if(versioned_collapsing._get_operand(expression) ~ ' is not null', sign) }}
{%- endmacro %}

{# `countIf(condition)` of the live rows. #}
{% macro signed_count_if(condition, sign='_sign') -%}
  sumIf({{ versioned_collapsing._get_sign_sql(sign) }}, {{ condition }})
{%- endmacro %}

{# `avgIf(expression, condition)` of the live rows. #}
{% macro signed_avg_if(expression, condition, sign='_sign', is_nullable=false) -%}
  {%- set has_value = ' and ' ~ versioned_collapsing._get_operand(expression) ~ ' is not null' -%}
  {%- set counted = versioned_collapsing._get_operand(condition) ~ has_value if is_nullable else condition -%}
  {%- set rows = versioned_collapsing.signed_count_if(counted, sign) -%}
  ({{ versioned_collapsing.signed_sum_if(expression, condition, sign) }} / nullIf({{ rows }}, 0))
{%- endmacro %}

{# `sumIf(expression, condition)` of the live rows. #}
{% macro signed_sum_if(expression, condition, sign='_sign') -%}
  sumIf({{ versioned_collapsing._get_times_sign_sql(expression, sign) }}, {{ condition }})
{%- endmacro %}

{# The same sums as an aggregating projection, for the option `projections` of the table's model. Queries that spell
   groups and sums as these macros do are answered from it. #}
{% macro signed_projection(name, group_by, sums, sign='_sign') %}
  {%- set columns = versioned_collapsing.get_projected_columns(group_by, sums, sign) -%}
  {%- set grouping = ' group by ' ~ columns.groups | join(', ') if columns.groups else '' -%}
  {%- do return({'name': name, 'query': 'select ' ~ columns.all | join(', ') ~ grouping}) -%}
{% endmacro %}

{# The expressions of such a projection: `groups`, and `all` in the order of its columns. #}
{% macro get_projected_columns(group_by, sums, sign) %}
  {%- set groups = versioned_collapsing.get_named_expressions(group_by).values() | list -%}
  {%- set totals = [] -%}
  {%- for expression in versioned_collapsing.get_named_expressions(sums).values() -%}
    {%- do totals.append(versioned_collapsing.signed_sum(expression, sign)) -%}
  {%- endfor -%}
  {%- do return({'groups': groups, 'all': groups + totals + [versioned_collapsing.signed_count(sign)]}) -%}
{% endmacro %}
