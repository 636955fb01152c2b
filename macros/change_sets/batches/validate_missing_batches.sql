{# A rebuild that lacks applied batches would lose their rows silently. #}
{% macro validate_missing_batches(model, missing) %}
  {%- if missing -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " must be built from the first batch on, but "
        ~ versioned_collapsing.get_batches_text(missing)
        ~ (" was applied and is" if missing | length == 1 else " were applied and are")
        ~ " no longer in the landing zone, so rows would be lost. Land "
        ~ ("it" if missing | length == 1 else "them") ~ " again. To build without "
        ~ ("it" if missing | length == 1 else "them") ~ " permanently: "
        ~ "dbt run " ~ ('--full-refresh ' if should_full_refresh() else '') ~ "--select " ~ model.name
        ~ "+ --vars '{rebuild_from_batch: " ~ (missing[-1] + 1) ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}
