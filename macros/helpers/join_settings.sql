{# Joins of blocks with sorted staged rows. An ANY join hands the columns of the left side on as they are. ClickHouse
   would make a SEMI join of one that is filtered, which copies them row by row, and takes up to ten times as long. #}
{% macro get_merge_join_settings() %}
  {%- do return({'join_algorithm': 'partial_merge', 'query_plan_convert_any_join_to_semi_or_anti_join': 0}) -%}
{% endmacro %}
