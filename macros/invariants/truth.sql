{# A truth as messages show it. What is more than a name may hold a password, as
   `postgresql('host', 'db', 'orders', 'reader', '…')` does. #}
{% macro get_truth_text(truth) %}
  {%- set text = truth | string | trim -%}
  {%- set name = modules.re.sub('[(\'$][\\s\\S]*', '', text) -%}
  {%- do return(text if name and name == text else name ~ '(…)') -%}
{% endmacro %}


{# Stops before ClickHouse does: where SQL cannot be parsed, its message quotes what stands there. #}
{% macro validate_truth(caller_name, truth) %}
  {%- set text = versioned_collapsing.quote_literal('select * from ' ~ truth) -%}
  {%- set query = 'select isNull(formatQuerySingleLineOrNull(' ~ text ~ ')) as n '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- if execute and run_query(query).rows[0]['n'] | int -%}
    {%- do exceptions.raise_compiler_error(
        caller_name ~ ": ClickHouse cannot parse `truth`, " ~ versioned_collapsing.get_truth_text(truth)
        ~ ". It takes the name of a model, or what can stand after `from`: a table, a table function, a select in "
        ~ "parentheses."
    ) -%}
  {%- endif -%}
{% endmacro %}
