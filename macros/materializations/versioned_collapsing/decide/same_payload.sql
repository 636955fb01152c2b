{# A tuple compares nulls as values; a hash with a null argument would be null. #}
{% macro _get_same_payload_sql(left, right, columns) %}
  {%- set sides = [] -%}
  {%- for side in (left, right) -%}
    {%- set names = [] -%}
    {%- for column in columns.table if column.name in columns.payload -%}
      {%- do names.append(
          versioned_collapsing.get_comparable_sql(side ~ '.' ~ adapter.quote(column.name), column.type)
      ) -%}
    {%- endfor -%}
    {%- do sides.append('tuple(' ~ names | join(', ') ~ ')') -%}
  {%- endfor -%}
  {%- do return(sides | join(' <=> ') if columns.payload else 'true') -%}
{% endmacro %}
