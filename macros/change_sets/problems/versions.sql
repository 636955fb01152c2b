{% macro get_missing_version_problem(version) %}
  {%- do return({'condition': '_text_' ~ version ~ ' is null', 'reason': "'version " ~ version ~ " is null'"}) -%}
{% endmacro %}
