{# The problems with the names of a model's options: unknown names, options without a meaning here, and options that are
   given twice. `known` has the options of the materialization, `meaningless` maps other options to advice, and
   `of_the_adapter` has those that the adapter reads. `meta` belongs to the project, so a name there is a problem only
   if it is in `meaningless` or resembles one of `known`. #}
{% macro get_option_name_problems(model, known, meaningless, of_the_adapter=[]) %}
  {%- set problems = [] -%}
  {%- set all_known = known + of_the_adapter + versioned_collapsing.get_option_names_of_dbt() -%}
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
  {%- for name in model.config.get('meta') or {} if name not in known -%}
    {%- if name in meaningless -%}
      {%- do problems.append("meta." ~ name ~ " has no meaning for this materialization. " ~ meaningless[name]) -%}
    {%- else -%}
      {%- set near = versioned_collapsing.get_near_name(name, known, 0.75) -%}
      {%- do problems.append(
          "meta." ~ name ~ ": there is no such option. Did you mean " ~ near ~ "? If it is your own, give it another "
          ~ "name."
      ) if near -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in versioned_collapsing.get_options_given_twice(model, known) -%}
    {%- do problems.append(
        name ~ " is " ~ model.config[name] ~ " in the config and " ~ model.config.meta[name] ~ " in `meta`. Give it in "
        ~ "one place."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
