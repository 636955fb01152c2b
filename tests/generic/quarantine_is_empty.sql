{# Warns while a quarantine has lines, each with its reason, so that a build in which lines were left out ends with a
   warning: dbt counts those of tests, and not those that models print. #}
{% test quarantine_is_empty(model, sign=none) %}
{{ config(severity='warn') }}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign) -%}

{% call versioned_collapsing.get_failing_rows_sql(['failing_condition'], table.names) %}
  select source_table, batch, file, line_number, raw_line, reason as _dbt_failing_condition
  from {{ table.relation }} final
  where {{ table.sign }} = 1{{ ' and (' ~ where ~ ')' if where }}
{% endcall %}

{% endtest %}
