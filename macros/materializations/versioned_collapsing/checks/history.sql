{# The first apply to a table needs a change set that begins at the first batch, and an empty table. #}
{% macro validate_history(this, existing_relation, is_rebuild, model, manifest, ledger, apply) %}
  {%- if not is_rebuild and not ledger.is_known -%}
    {%- do versioned_collapsing.validate_known_table(existing_relation, model, apply) -%}
  {%- endif -%}
  {%- if is_rebuild or not ledger.has_history -%}
    {%- do versioned_collapsing.validate_complete_manifest(this, manifest, apply) -%}
  {%- endif -%}
{% endmacro %}


{# A table with rows that the ledger does not know was not built by this materialization. #}
{% macro validate_known_table(existing_relation, model, apply) %}
  {%- if versioned_collapsing.read_row_count(existing_relation) -%}
    {%- do versioned_collapsing.stop_run(apply,
        existing_relation ~ " has rows that are not in the ledger. If they are the state and cancel rows of this "
        ~ "model, adopt the table: dbt run-operation adopt_table --args '{model: " ~ model.name ~ "}'. "
        ~ "Otherwise rename it, or rebuild it: " ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
