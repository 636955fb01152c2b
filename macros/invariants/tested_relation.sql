{# The relation behind the `model` of a generic test: with the config `where`, dbt passes a subquery instead. #}
{% macro get_tested_relation(model) %}
  {%- if model is not string -%}{%- do return(model) -%}{%- endif -%}
  {%- set name = '(`[^`]+`|"[^"]+"|[^`". ]+)' -%}
  {%- set found = modules.re.fullmatch(
      '\\s*\\(\\s*select \\* from ' ~ name ~ '\\.' ~ name ~ '\\s+where .*', model, modules.re.S
  ) -%}
  {%- do versioned_collapsing._validate_table_is_seen(model, found) -%}
  {%- do return(api.Relation.create(
      schema=versioned_collapsing._strip_quotes(found[1]),
      identifier=versioned_collapsing._strip_quotes(found[2]),
  )) -%}
{% endmacro %}


{% macro _validate_table_is_seen(model, found) %}
  {%- if found is none -%}
    {%- do exceptions.raise_compiler_error(
        "The tested table cannot be read from " ~ model ~ ", because the project overrides get_where_subquery. Remove "
        ~ "the config `where`."
    ) -%}
  {%- endif -%}
{% endmacro %}
