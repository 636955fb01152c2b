{# The rows of a table, for `from`, read so that no projection answers in their place: none has `_part_offset`. #}
{% macro get_rows_without_projections(table) %}
  {%- set stored = '(select * from ' ~ table.relation ~ ' where _part_offset >= 0) as _dbt_stored' -%}
  {%- do return(stored if table.is_collapsing else table.relation) -%}
{% endmacro %}
