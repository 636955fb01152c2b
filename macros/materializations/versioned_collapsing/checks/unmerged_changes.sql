{# Partial changes that came too late, or for a key that is not there. #}
{% macro warn_of_unmerged_changes(target_relation, counts) %}
  {%- if counts.unmerged -%}
    {%- do exceptions.warn(
        target_relation ~ ": " ~ versioned_collapsing.format_count(counts.unmerged, 'partial change')
        ~ " could not be combined, because the stored row is newer or does not exist."
    ) -%}
  {%- endif -%}
{% endmacro %}
