{# The settings of joins of blocks with sorted staged rows. An ANY join passes the columns of the left side on as they
   are. Otherwise ClickHouse would turn an ANY join with a filter into a SEMI join, which copies them row by row, and
   takes up to ten times as long. #}
{% macro get_merge_join_settings() %}
  {%- do return({'join_algorithm': 'partial_merge', 'query_plan_convert_any_join_to_semi_or_anti_join': 0}) -%}
{% endmacro %}
