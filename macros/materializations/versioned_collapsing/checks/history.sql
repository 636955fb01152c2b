{# The first apply to a table needs a change set that begins at the first batch, and an empty table. #}
{% macro validate_history(this, existing, is_rebuild, model, manifest, ledger, run) %}
  {%- if not is_rebuild and not ledger.is_known -%}
    {%- do versioned_collapsing.validate_known_table(existing, model, run) -%}
  {%- endif -%}
  {%- if is_rebuild or not ledger.has_history -%}
    {%- do versioned_collapsing.validate_complete_manifest(this, manifest, run) -%}
  {%- endif -%}
{% endmacro %}


{# A table with rows that the ledger does not know was not built by this materialization. #}
{% macro validate_known_table(existing, model, run) %}
  {%- set rows = run_query('select count() as _dbt_n from ' ~ existing ~ ' '
      ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] | int -%}
  {%- if rows -%}
    {%- do versioned_collapsing.stop_run(run,
        existing ~ " has rows, and the ledger knows nothing of them. If the table keeps the state and cancel rows of "
        ~ "this model, "
        ~ "adopt it: dbt run-operation adopt_table --args '{model: " ~ model.name ~ "}'. Otherwise move it away, or "
        ~ "rebuild it: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
