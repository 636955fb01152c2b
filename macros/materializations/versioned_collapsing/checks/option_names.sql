{# What is wrong with the names of a model's options: those that nobody knows, and those that say nothing here. `known`
   are the materialization's own, `meaningless` maps others to what to do instead. #}
{% macro get_option_name_problems(model, known, meaningless) %}
  {%- set problems = [] -%}
  {%- set all_known = known + versioned_collapsing.get_option_names_of_dbt() -%}
  {%- for name, value in model.config.items() if value is not none -%}
    {%- if name in meaningless -%}
      {%- do problems.append(name ~ " has no meaning for this materialization. " ~ meaningless[name]) -%}
    {%- elif name not in all_known -%}
      {%- set near = versioned_collapsing.get_near_name(name, all_known) -%}
      {%- set advice = "Did you mean " ~ near ~ "?" if near
          else "Remove it, or move it to `meta` if your own macros read it." -%}
      {%- do problems.append(name ~ ": there is no such option. " ~ advice) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
