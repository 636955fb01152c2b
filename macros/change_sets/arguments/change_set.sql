{# The manifest is in the warehouse, and the change set has to be beside it. #}
{% macro validate_location(model) %}
  {%- if model.config.get('location_root') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": a change_set does not accept location_root. Remove it. `warehouse` in the profile sets "
        ~ "where tables are, also in S3."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The options of a change set, and those of dbt-spark for the files of a table. #}
{% macro get_change_set_option_names() %}
  {%- do return([
      'on_changed_batch', 'compares_extracts',
      'file_format', 'location_root', 'partition_by', 'clustered_by', 'buckets', 'options', 'tblproperties',
  ]) -%}
{% endmacro %}


{% macro validate_change_set_options(model) %}
  {%- set names = versioned_collapsing.get_change_set_option_names() -%}
  {%- do versioned_collapsing.raise_problems(
      model.unique_id, versioned_collapsing.get_option_name_problems(model, names, {}), 'change_set'
  ) -%}
{% endmacro %}
