{# dbt's is_incremental() is true only for the materialization `incremental`. In this one, the code that depends on it
   never runs. #}
{% macro warn_of_is_incremental(model) %}
  {%- if modules.re.search('\\bis_incremental\\(', model.raw_code) -%}
    {%- do exceptions.warn(
        model.unique_id ~ " calls is_incremental(), which is always false in a versioned_collapsing model. Each run "
        ~ "therefore reads and compares everything that the model selects. To read less in later runs, use "
        ~ "{% if load_relation(this) and not should_full_refresh() %} instead."
    ) -%}
  {%- endif -%}
{% endmacro %}
