{# Whether a condition is true of any change of the key. #}
{% macro _any_of_key_sql(condition, options) %}
  {%- do return('countIf(' ~ condition ~ ') over (partition by ' ~ get_quoted_csv(options.unique_key) ~ ') > 0') -%}
{% endmacro %}


{# The highest version among those changes of the key for which a condition is true. #}
{% macro _highest_of_key_sql(condition, options) %}
  {%- set version = adapter.quote(options.version) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- do return('maxIf(' ~ version ~ ', ' ~ condition ~ ') over (partition by ' ~ key ~ ')') -%}
{% endmacro %}


{# Whether the key has a live row with which changes can be combined. A live row at or below a truncate counts as
   deleted. #}
{% macro _outlives_truncate_sql(truncated_at) %}
  {%- do return('_dbt_has_live' ~ (' and _dbt_live_version > ' ~ truncated_at if truncated_at else '')) -%}
{% endmacro %}
