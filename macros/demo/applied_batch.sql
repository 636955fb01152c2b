{# The last batch that is applied to a table, as a scalar subquery. #}
{% macro get_applied_batch_sql(target) -%}
  (
    select max(arrayMax(arrayConcat([0], batches.batch)))
    from {{ versioned_collapsing.get_ledger_relation(target) }}
    where status = 'applied'
      and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(target) }}
  )
{%- endmacro %}
