{% macro _combine_problems(options) %}
  {%- set problems = [] -%}
  {%- set policies = ('latest', 'greatest', 'least', 'coalesce', 'first') -%}
  {%- for column, policy in options.combine.items() -%}
    {%- if policy not in policies -%}
      {%- do problems.append(
          "combine: " ~ column ~ " has the policy '" ~ policy ~ "'; a column takes one of '" ~ policies | join("', '")
          ~ "'."
      ) -%}
    {%- endif -%}
    {%- if column in options.unique_key + [options.version] -%}
      {%- do problems.append(
          "combine: " ~ column ~ " belongs to unique_key or is the version, which are never combined. Remove it."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
