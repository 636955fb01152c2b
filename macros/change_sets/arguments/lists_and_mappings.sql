{# The problems with arguments that must be lists of names. `arguments` has them by name. #}
{% macro get_list_problems(arguments, may_be_empty=[]) %}
  {%- set problems = [] -%}
  {%- for name, value in arguments.items() -%}
    {%- if value is string -%}
      {%- do problems.append(name ~ " is '" ~ value ~ "'; it takes a list: ['" ~ value ~ "'].") -%}
    {%- elif value is mapping or value is not sequence -%}
      {%- do problems.append(name ~ " is " ~ value ~ "; it takes a list of names.") -%}
    {%- elif not value and name not in may_be_empty -%}
      {%- do problems.append(name ~ " is empty; it takes at least one name.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# The problems with arguments that must be the name of one column, or none. #}
{% macro get_name_problems(arguments) %}
  {%- set problems = [] -%}
  {%- for name, value in arguments.items() if value is not none and value is not string -%}
    {%- do problems.append(name ~ " is '" ~ value ~ "'; it takes the name of a column.") -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro get_mapping_problems(arguments) %}
  {%- set problems = [] -%}
  {%- for name, value in arguments.items() if value is not mapping -%}
    {%- do problems.append(name ~ " is " ~ value ~ "; it takes a mapping whose keys are names of columns.") -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
