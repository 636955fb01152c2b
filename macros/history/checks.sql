{# The columns that the caller names are those of the table. #}
{% macro validate_named_columns(caller_name, relation, table_columns, named) %}
  {%- set known = table_columns | map(attribute='name') | list -%}
  {%- set problems = [] -%}
  {%- for argument, names in named.items() -%}
    {%- for name in versioned_collapsing.as_list(names) if name not in known -%}
      {%- do problems.append(
          argument ~ ' is ' ~ name ~ ', and ' ~ relation ~ ' has no such column. It has ' ~ known | join(', ') ~ '.'
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if not named.unique_key -%}
    {%- do problems.append(
        'no model of this project builds ' ~ relation ~ ', so its key is not known. Name it: unique_key=[…].'
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.validate_no_problems(caller_name, problems) -%}
{% endmacro %}


{# Rows that come signed do not say which change ended a state, and may come in any order. #}
{% macro validate_has_lives(caller_name, relation, options) %}
  {%- if options.get('old_state') == 'stream' -%}
    {%- do versioned_collapsing.validate_no_problems(caller_name, [
        'the model of ' ~ relation ~ ' has `old_state: stream`. The rows of such a table come with their signs and do '
        ~ 'not say when a state ended. Use changes_since.'
    ]) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_one_moment(at, version) %}
  {%- if (at is none) == (version is none) -%}
    {%- do versioned_collapsing.validate_no_problems('as_of', [
        'takes either `at`, a time in UTC, or `version`. Pass ' ~ ('' if at is none else 'only ') ~ 'one of them.'
    ]) -%}
  {%- endif -%}
{% endmacro %}


{# The columns that `versions` adds have names of their own. #}
{% macro validate_version_columns(history, added) %}
  {%- set taken = added | select('in', history.plain_names) | list -%}
  {%- if taken -%}
    {%- do versioned_collapsing.validate_no_problems('versions', [
        history.relation ~ ' has ' ~ taken | join(', ') ~ ', and `versions` adds '
        ~ ('a column of this name. Rename it' if taken | length == 1 else 'columns of these names. Rename them')
        ~ ' in the model of the table.'
    ]) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_no_problems(caller_name, problems) %}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(caller_name ~ ': ' ~ problems | join('\n  ')) -%}
  {%- endif -%}
{% endmacro %}
