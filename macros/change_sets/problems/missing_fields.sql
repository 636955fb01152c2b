{# The names of the given columns that a row lacks. `row` is a map. #}
{% macro get_missing_fields_sql(names, row, prefix='') -%}
  {%- set texts = [] -%}
  {%- set candidates = [] -%}
  {%- for name in names -%}
    {%- do texts.append('_text_' ~ prefix ~ name ~ ' is null') -%}
    {%- do candidates.append('if(_text_' ~ prefix ~ name ~ " is null, '" ~ name ~ "', null)") -%}
  {%- endfor -%}
  if(
    {{ texts | join(' or ') or 'false' }},
    array_except(
      array({{ candidates | join(', ') }}),
      array_append({{ versioned_collapsing._get_fields_sql(row) }}, null)
    ),
    cast(array() as array<string>)
  )
{%- endmacro %}


{# The problem of a row that lacks a column, as a condition with a reason. `missing` has the names of the columns that
   the row lacks. #}
{% macro get_missing_field_problems(missing_fields, missing='_missing_fields', label='') %}
  {%- if missing_fields != 'refuse' -%}
    {%- do return([]) -%}
  {%- endif -%}
  {%- do return([{
      'condition': 'get(' ~ missing ~ ', 0) is not null',
      'reason': "concat('" ~ label ~ "', get(" ~ missing ~ ", 0), ' is missing')",
  }]) -%}
{% endmacro %}


{# The problems with required columns if rows may lack columns, as conditions with reasons: the column is there and
   null, or it is not there and the row is new to the table. #}
{% macro get_kept_field_problems(missing_fields, required, places, toasted, row, is_new) %}
  {%- set problems = [] -%}
  {%- set fields = versioned_collapsing._get_fields_sql(row) -%}
  {%- for name in required if missing_fields == 'keep' and name not in places -%}
    {%- set is_left_out = ' and ' ~ versioned_collapsing.get_field_sql('_after', name) ~ ' is null' -%}
    {%- do problems.append({
        'condition': '_text_' ~ name ~ ' is null' ~ (is_left_out if name in toasted else '')
            ~ ' and (' ~ is_new ~ ' or array_contains(' ~ fields ~ ", '" ~ name ~ "'))",
        'reason': "'" ~ name ~ " is null'",
    }) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _get_fields_sql(row) %}
  {%- do return('coalesce(map_keys(' ~ row ~ '), cast(array() as array<string>))') -%}
{% endmacro %}
