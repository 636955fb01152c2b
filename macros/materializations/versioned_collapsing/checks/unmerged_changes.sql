{# Warns of partial changes that came too late, or whose key has no stored row. #}
{% macro warn_of_unmerged_changes(target_relation, counts) %}
  {%- if counts.unmerged -%}
    {%- do exceptions.warn(
        target_relation ~ ": " ~ versioned_collapsing.format_count(counts.unmerged, 'partial change')
        ~ " could not be combined: the stored row is newer, and the change is skipped, or there is no stored row, and "
        ~ "the change is written with the columns that it has. Send complete rows for these keys."
    ) -%}
  {%- endif -%}
{% endmacro %}
