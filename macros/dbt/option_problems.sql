{# The problems with options and arguments of which each takes one of some values. `choices`: by name, what was given
   and what is accepted. #}
{% macro get_choice_problems(choices) %}
  {%- set problems = [] -%}
  {%- for name, choice in choices.items() if choice[0] not in choice[1] -%}
    {%- set given, accepted = choice -%}
    {%- do problems.append(
        name ~ " is '" ~ given ~ "'; it takes '" ~ accepted[:-1] | join("', '") ~ "' or '" ~ accepted[-1] ~ "'."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The problems with options and arguments that must be the name of one column. #}
{% macro get_name_problems(names) %}
  {%- set problems = [] -%}
  {%- for name, value in names.items() if value is not string or not value -%}
    {%- do problems.append(name ~ " is '" ~ value ~ "'; it takes the name of a column.") -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The problem with the policies of `combine`, by column. #}
{% macro get_policy_problems(combine) %}
  {%- set policies = ('latest', 'greatest', 'least', 'coalesce', 'first') -%}
  {%- set problems = [] -%}
  {%- for column, policy in combine.items() if policy not in policies -%}
    {%- do problems.append(
        "combine: " ~ column ~ " has the policy '" ~ policy ~ "'; a column takes one of '" ~ policies | join("', '")
        ~ "'."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The problem with arguments that name what is not among the columns. `arguments` has their names by argument. #}
{% macro get_outside_problems(arguments, columns) %}
  {%- set problems = [] -%}
  {%- for argument, names in arguments.items() -%}
    {%- set outside = names | reject('in', columns) | list -%}
    {%- if outside -%}
      {%- do problems.append(
          argument ~ " names " ~ outside | join(', ') ~ ", which " ~ ("is" if outside | length == 1 else "are")
          ~ " not in columns."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
