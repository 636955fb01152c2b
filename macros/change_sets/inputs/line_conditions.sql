{# The condition by which lines are counted under each name; none if the columns cannot tell. The text of a line is read
   only if nothing else is known about it. This needs an `if`: an expression that occurs twice in an `and` is computed
   by Spark for every line. #}
{% macro get_line_conditions(columns) %}
  {%- set has_reasons = '_reason' in columns and '_version' in columns -%}
  {%- set is_message = '_passed_over is not null' if '_passed_over' in columns else 'false' -%}
  {%- set is_blank = '_is_blank' if '_is_blank' in columns else 'if(_reason is null and _version is null and not '
      ~ is_message ~ ', ' ~ versioned_collapsing.get_says_nothing_sql('_raw_line') ~ ', false)' -%}
  {%- do return({
      'blank': is_blank if has_reasons and '_raw_line' in columns else none,
      'quarantined': '_reason is not null' if has_reasons else none,
      'passed_over': '_reason is null and ' ~ is_message if has_reasons else none,
      'events': '_reason is null and _version is not null' if has_reasons else none,
  }) -%}
{% endmacro %}
