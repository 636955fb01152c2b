{# Nothing is left of what was read before, so that there may have been rows that no run has read. A merge leaves
   nothing of it only where every row has been replaced. #}
{% macro warn_of_emptied_landing(found, rows, is_read, last, model) %}
  {%- set query = 'select 1 as _dbt_n from ' ~ rows ~ ' where ' ~ is_read ~ ' limit 1 '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- if not run_query(query).rows -%}
    {%- do exceptions.warn(
        found.relation ~ " has no row up to " ~ last.text ~ " any more, which is how far " ~ model.name ~ " has read. "
        ~ "If it was emptied, or has lost rows to a TTL, then rows or deletes may never have been read. Compare the "
        ~ "model with the source: dbt run-operation reconcile. Or build it again: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
