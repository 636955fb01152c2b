{# Columns that a change set may have besides key, version and payload. They are not stored. #}
{% macro get_control_columns(options) %}
  {%- do return([options.is_deleted, '_unset', '_reset', '_batch',
      '_is_truncate', '_watermark', '_landing'] + versioned_collapsing.get_carried_count_names()) -%}
{% endmacro %}
