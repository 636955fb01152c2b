{# All that is wrong with the options of a model, in one error. #}
{% macro validate_versioned_collapsing_options(model, options) %}
  {%- set problems = versioned_collapsing.get_option_name_problems(model, options.keys() | list,
      versioned_collapsing.get_meaningless_options())
      + versioned_collapsing.get_option_problems(options) -%}
  {%- if '`' in model.alias or '\\' in model.alias -%}
    {%- do problems.append(
        "alias is " ~ model.alias ~ ", but dbt cannot quote a name that contains a backtick or a backslash. Use "
        ~ "another."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems) -%}
{% endmacro %}
