{# A rebuild without batches that are applied would lose their rows without a word. #}
{% macro validate_missing_batches(model, missing) %}
  {%- if missing -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " is to be built from the first batch on, and "
        ~ versioned_collapsing.get_batches_text(missing)
        ~ (" is applied and has" if missing | length == 1 else " are applied and have")
        ~ " not landed any more: rows would be lost. Land what is missing again. Or build without it, for good: "
        ~ "dbt run " ~ ('--full-refresh ' if should_full_refresh() else '') ~ "--select " ~ model.name
        ~ "+ --vars '{rebuild_from_batch: " ~ (missing[-1] + 1) ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}
