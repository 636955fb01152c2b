{# In two cases, a full refresh would remove rows that only a later complete run brings back: if the run reads only a
   part of its input (--empty, --sample), and if the change set has no batches. validate_complete_manifest checks change
   sets that were built as a part. #}
{% macro validate_no_rows_are_lost(existing_relation, is_rebuild, model, manifest, ledger, apply) %}
  {%- set is_part = manifest.is_partial and (versioned_collapsing.is_partial_run() or not manifest.exists) -%}
  {%- set is_empty = manifest.exists and not manifest.is_partial and manifest.is_complete and not manifest.batches -%}
  {%- if is_rebuild and (is_part or is_empty) and ledger.has_history -%}
    {%- do versioned_collapsing.stop_run(apply,
        existing_relation ~ " cannot be rebuilt: " ~ (manifest.change_set or "its select")
        ~ (" is only a part (--empty or --sample)" if manifest.is_partial else " holds no batch")
        ~ ", so the table would lose rows. Rebuild it from all rows: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
