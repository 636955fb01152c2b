{# Sums of a collapsing table by group, for a view or for the table of a SummingMergeTree view. The count of live rows
   is always among them: a SummingMergeTree drops rows whose sums are all 0, and would lose a group whose amounts
   are 0.

   `group_by` and `sums` map the names of columns to expressions; a list is of columns that keep their names. #}
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
