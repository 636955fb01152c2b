{# All that is wrong with the arguments, as one error. #}
{% macro validate_signed_rows(model, events, key, columns) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key}) -%}
  {%- if columns and not problems -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_is_deleted', '_before', '_before_version', '_batch', '_file', '_reason']
    )) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'signed_rows') -%}
{% endmacro %}
