{# A model can apply only one change set, because an apply has one batch manifest. #}
{% macro validate_change_sets(model) %}
  {%- set change_sets = versioned_collapsing.get_change_sets(model) | map(attribute='name') | list -%}
  {%- if change_sets | length > 1 -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        "change set: the model selects from " ~ change_sets | join(' and ') ~ ", but it can apply only one change set. "
        ~ "Select from one of them, or union their inputs in one change_set model."
    ]) -%}
  {%- endif -%}
{% endmacro %}


{# Only ClickHouse can apply a change set. Other engines call this macro, and it always raises an error. #}
{% macro validate_change_set_is_readable(change_set, engine) %}
  {%- do exceptions.raise_compiler_error(
      change_set.name ~ ": a change set can be applied only on ClickHouse, and this model is built on " ~ engine
      ~ ". Build it on ClickHouse."
  ) -%}
{% endmacro %}
