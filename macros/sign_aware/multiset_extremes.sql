{# `min(value)` of the live rows, from counts by value. #}
{% macro multiset_min(value, count='live_rows') -%}
  minIf({{ value }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `max(value)` of the live rows. #}
{% macro multiset_max(value, count='live_rows') -%}
  maxIf({{ value }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `argMin(value, by)` of the live rows: the value of the row in which `by` is lowest, as the earliest. #}
{% macro multiset_min_by(value, by, count='live_rows') -%}
  argMinIf({{ value }}, {{ by }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}


{# `argMax(value, by)` of the live rows: the value of the row in which `by` is highest, as the latest. #}
{% macro multiset_max_by(value, by, count='live_rows') -%}
  argMaxIf({{ value }}, {{ by }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}
