{# The names of the columns that a line leaves as they are stored: those that PostgreSQL did not send, and those that an
   update lacks. #}
{% macro get_unset_sql(toasted, may_lack) -%}
  {%- set unset = [] -%}
  {%- for name in toasted -%}
    {%- set after = versioned_collapsing.get_field_sql('_after', name) -%}
    {%- do unset.append('if(_text_' ~ name ~ ' is null and ' ~ after ~ " is not null, '" ~ name ~ "', null)") -%}
  {%- endfor -%}
  {%- set none_of_them = 'cast(array() as array<string>)' -%}
  {%- set names = 'filter(array(' ~ unset | join(', ') ~ '), name -> name is not null)' -%}
  {%- set left_out = names if unset else none_of_them -%}
  {%- if may_lack -%}
    {%- do return('array_union(' ~ left_out ~ ', coalesce(_missing_fields, ' ~ none_of_them ~ '))') -%}
  {%- endif -%}
  {%- do return(left_out) -%}
{%- endmacro %}
