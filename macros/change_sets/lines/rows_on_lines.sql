{# Where the row is on a line that has more than the row. Tools that read logs put the row into a field of its own, and
   the operation, its position and its time beside it.

   Each line gets `_line`, its fields as text, `_json_text`, the JSON of the row, and `_row_problem`. The row's text is
   cut out of the line, because a parser that prints nested JSON changes its numbers. #}
{% macro get_rows_on_lines_sql(lines, row, only, is_deleted) -%}
  {%- set json = versioned_collapsing.get_json_line_sql('_raw_line') -%}
  {%- set fields = versioned_collapsing.get_json_values_sql(
      versioned_collapsing.get_quoted_numbers_sql('_line_text'), 'map<string, string>'
  ) -%}
  {%- set passed_over = versioned_collapsing._get_other_lines_sql(only, is_deleted) -%}
  select
    *,
    {{ passed_over }} as _passed_over
    {%- if row %},
    case
      when _line is null or {{ passed_over }} is not null then null
      when size(array_distinct(map_keys(_line))) < size(_line) then 'the line names a field twice'
      when _row_text is null then {{ versioned_collapsing.quote_literal(row | join(' or ') ~ ' is missing') }}
      when left(_row_text, 1) = '[' then concat(
        {{ versioned_collapsing.quote_literal(row | join(' or ') ~ ' has ') }},
        coalesce(size(from_json(_row_text, 'array<string>')), 0), ' rows'
      )
    end as _row_problem,
    if(_line is null, _line_text, if(left(_row_text, 1) = '{', _row_text, '{}')) as _json_text
    {%- endif %}
  from (
    select
      *
      {%- if row %},
      {{ versioned_collapsing._get_row_text_sql(row) }} as _row_text
      {%- endif %}
    from (
      select lines.*, if({{ versioned_collapsing.get_is_json_sql('_fields') }}, _fields[0], null) as _line
      from (
        select *, {{ json }} as _line_text
        from ({{ lines }})
      ) as lines
      lateral view explode(array({{ fields }})) as _fields
    )
  )
{%- endmacro %}


{# The text of the first of these objects that is on the line. An array of one row is that row. #}
{% macro _get_row_text_sql(row) %}
  {%- set texts = [] -%}
  {%- for path in row -%}
    {%- set names = path.split('.') -%}
    {%- set object = versioned_collapsing.get_text_array_sql([''] + names[:-1]) -%}
    {%- set member = versioned_collapsing.get_members_sql('_line_text', object) ~ "['" ~ names[-1] ~ "']" -%}
    {%- set text = "nullif(trim(" ~ versioned_collapsing.get_line_field_sql(path) ~ "), '')" -%}
    {%- do texts.append('coalesce(nullif(' ~ member ~ ", ''), " ~ text ~ ')') -%}
  {%- endfor -%}
  {%- set found = 'coalesce(' ~ texts | join(', ') ~ ')' -%}
  {%- set one = "r'(?s)^\\[\\s*+(\\{.*\\})\\s*+\\]$'" -%}
  {%- do return(
      'transform(array(' ~ found ~ "), _text -> if(left(_text, 1) = '[' "
      ~ "and size(from_json(_text, 'array<string>')) = 1, regexp_extract(_text, " ~ one ~ ', 1), _text))[0]'
  ) -%}
{% endmacro %}


{# What a line is if it has no change of this table: a line of another table, or one whose operation stands for none. #}
{% macro _get_other_lines_sql(only, is_deleted) %}
  {%- set cases = [] -%}
  {%- for path, values in only.items() -%}
    {%- set given = [values] if values is string else values -%}
    {%- set field = versioned_collapsing.get_line_field_sql(path) -%}
    {%- do cases.append(
        'when ' ~ field ~ ' not in (' ~ versioned_collapsing.quote_literals(given) ~ ") then concat('" ~ path ~ " ', "
        ~ field ~ ')'
    ) -%}
  {%- endfor -%}
  {%- for path, codes in (is_deleted.items() if is_deleted is mapping else []) -%}
    {%- set field = versioned_collapsing.get_line_field_sql(path) -%}
    {%- for code, meaning in codes.items() if meaning is none -%}
      {%- do cases.append(
          'when ' ~ field ~ ' = ' ~ versioned_collapsing.quote_literal(code) ~ " then concat('" ~ path ~ " ', "
          ~ field ~ ')'
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(
      'case when _line is null then null ' ~ cases | join(' ') ~ ' end' if cases else 'cast(null as string)'
  ) -%}
{% endmacro %}


{# A line that does not say of which table it is. #}
{% macro get_line_of_table_problems(only) %}
  {%- set problems = [] -%}
  {%- for path in only -%}
    {%- do problems.append({
        'condition': versioned_collapsing.get_line_field_sql(path) ~ ' is null',
        'reason': "'" ~ path ~ " is missing'",
    }) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# What a path leads to on a line: a name, or names with dots between. A text that is no path is an expression. #}
{% macro get_line_field_sql(path) %}
  {%- if not versioned_collapsing.is_line_path(path) -%}
    {%- do return('(' ~ path ~ ')') -%}
  {%- endif -%}
  {%- set names = path.split('.') -%}
  {%- set field = versioned_collapsing.get_field_sql('_line', names[0]) -%}
  {%- if names | length == 1 -%}
    {%- do return(field) -%}
  {%- endif -%}
  {%- do return('get_json_object(' ~ field ~ ", '$." ~ names[1:] | join('.') ~ "')") -%}
{% endmacro %}


{% macro is_line_path(text) %}
  {%- do return(modules.re.match('[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$', text) is not none) -%}
{% endmacro %}
