{% macro _combine_problems(options) %}
  {%- set problems = [] -%}
  {%- set policies = ('latest', 'greatest', 'least', 'coalesce', 'first') -%}
  {%- for column, policy in options.combine.items() -%}
    {%- if policy not in policies -%}
      {%- do problems.append(
          "combine: " ~ column ~ " has '" ~ policy ~ "'; a column takes '" ~ policies | join("', '") ~ "'."
      ) -%}
    {%- endif -%}
    {%- if column in options.unique_key + [options.version] -%}
      {%- do problems.append(
          "combine: " ~ column ~ " belongs to the key or is the version, which are never combined. Take it out."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
