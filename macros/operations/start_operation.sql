{# A run of an operation, for the lock and the ledger. #}
{% macro start_operation(node) %}
  {%- do return(
      versioned_collapsing.start_run(node, {'batches': [], 'exists': false, 'is_partial': false},
      {'old_state': 'lookup', 'chunks': 1})
  ) -%}
{% endmacro %}


{# Stops an operation when a run began to write and did not end: what is torn is completed by the model. #}
{% macro validate_finished(operation, table, node, run) %}
  {%- if versioned_collapsing.read_ledger(table, node).unfinished -%}
    {%- do versioned_collapsing.stop_run(run,
        operation ~ ": a run on " ~ table ~ " died while it wrote. Complete it first: dbt run --select "
        ~ versioned_collapsing.get_selector(node)
    ) -%}
  {%- endif -%}
{% endmacro %}
