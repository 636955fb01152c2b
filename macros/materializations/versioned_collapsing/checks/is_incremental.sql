{# dbt's is_incremental() is true for its own materialization only: what a model writes below it is not run. #}
{% macro warn_of_is_incremental(model) %}
  {%- if modules.re.search('\\bis_incremental\\(', model.raw_code) -%}
    {%- do exceptions.warn(
        model.unique_id ~ " calls is_incremental(), which is false for every versioned_collapsing model: all that it "
        ~ "selects is read and compared in each run. To read less in later runs, ask {% if load_relation(this) and "
        ~ "not should_full_refresh() %} instead."
    ) -%}
  {%- endif -%}
{% endmacro %}
