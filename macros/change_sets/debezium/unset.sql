{# The names of the columns that a line leaves as they are stored: what PostgreSQL did not send, and what an update
   lacks. #}
{% macro get_unset_sql(toasted, may_lack) -%}
  {%- set unset = [] -%}
  {%- for name in toasted -%}
    {%- do unset.append('if(_text_' ~ name ~ ' is null and _after.' ~ name ~ " is not null, '" ~ name ~ "', null)") -%}
  {%- endfor -%}
  {%- set left_out = 'filter(array(' ~ unset | join(', ') ~ '), name -> name is not null)' if unset else 'cast(array() as array<string>)' -%}
  {%- do return('array_union(' ~ left_out ~ ', coalesce(_missing_fields, cast(array() as array<string>)))' if may_lack else left_out) -%}
{%- endmacro %}
