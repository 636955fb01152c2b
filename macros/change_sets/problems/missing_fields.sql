{# The names of these columns that a row, a map, lacks. #}
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


{# A row that lacks a column, as conditions with reasons; `missing` has the names of those that it lacks. #}
{% macro get_missing_field_problems(missing_fields, missing='_missing_fields', label='') %}
  {%- if missing_fields != 'refuse' -%}
    {%- do return([]) -%}
  {%- endif -%}
  {%- do return([{
      'condition': 'get(' ~ missing ~ ', 0) is not null',
      'reason': "concat('" ~ label ~ "', get(" ~ missing ~ ", 0), ' is missing')",
  }]) -%}
{% endmacro %}


{# Where rows may lack columns: a column that is required, is there and is null, or is not there and new to the table,
   as conditions with reasons. #}
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
