{# A truncate needs the version up to which it removes rows. #}
{% macro validate_truncates(without_version, column, apply) %}
  {%- if without_version -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The change set of " ~ apply.model ~ " has " ~ versioned_collapsing.format_count(without_version, 'row')
        ~ " with _is_truncate whose " ~ column.name ~ " is null or does not fit " ~ column.type
        ~ ". Nothing was written. A truncate needs the version up to which it removes rows. Correct it upstream."
    ) -%}
  {%- endif -%}
{% endmacro %}
