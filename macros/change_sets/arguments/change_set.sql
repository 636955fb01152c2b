{# The manifest is in the warehouse, and the change set has to be beside it. #}
{% macro validate_location(model) %}
  {%- if model.config.get('location_root') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": a change_set does not accept location_root. Remove it. `warehouse` in the profile sets "
        ~ "where tables are, also in S3."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The options of dbt-spark for the files of a table. #}
{% macro get_option_names_of_spark() %}
  {%- do return([
      'file_format', 'location_root', 'partition_by', 'clustered_by', 'buckets', 'options', 'tblproperties',
  ]) -%}
{% endmacro %}


{% macro validate_change_set_options(model) %}
  {%- set names_of_spark = versioned_collapsing.get_option_names_of_spark() -%}
  {%- set problems = versioned_collapsing.get_option_name_problems(
      model, ['on_changed_batch', 'compares_extracts', 'lake'], {}, names_of_spark
  ) -%}
  {%- for name in names_of_spark if name in (model.config.get('meta') or {}) -%}
    {%- do problems.append(
        "meta." ~ name ~ ": dbt-spark reads this option in the config only. Move it out of `meta`."
    ) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'change_set') -%}
{% endmacro %}
