{# The rows of a query, as lines of a table with a header. #}
{% macro log_table(rows, indent='  ') %}
  {%- for line in versioned_collapsing.format_table(rows) -%}
    {%- do log(indent ~ line, info=true) -%}
  {%- endfor -%}
{% endmacro %}


{% macro format_table(rows) %}
  {%- set cells = [rows.column_names | list] -%}
  {%- for row in rows.rows -%}
    {%- do cells.append(row.values() | map('string') | list) -%}
  {%- endfor -%}
  {%- set lines = [] -%}
  {%- for row in cells -%}
    {%- set padded = [] -%}
    {%- for cell in row -%}
      {%- do padded.append(cell.ljust(cells | map(attribute=loop.index0) | map('length') | max)) -%}
    {%- endfor -%}
    {%- do lines.append((padded | join('  ')).rstrip()) -%}
  {%- endfor -%}
  {%- do return(lines) -%}
{% endmacro %}
