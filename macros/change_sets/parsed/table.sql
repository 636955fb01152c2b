{# The lines of the batches that a run takes, parsed. The text is kept only for lines that cannot be used. Spark reads
   the lines of a block in their order, so `_line_id` grows by one from line to line. #}
{% macro get_create_parsed_lines_sql(input, taken, file_format) -%}
  {%- set is_blank = versioned_collapsing.get_line_conditions(input.columns)['blank'] -%}
  create table {{ input.parsed }} using {{ file_format }} as
  select
    {%- for name in input.columns if name != '_raw_line' %}
    {{ adapter.quote(name) }},
    {%- endfor %}
    if(_reason is null, null, _raw_line) as _raw_line,
    {{ is_blank }} as _is_blank,
    monotonically_increasing_id() as _line_id
  from {{ input.relation }}
  where {{ '_batch in (' ~ taken | join(', ') ~ ')' if taken else 'false' }}
{%- endmacro %}
