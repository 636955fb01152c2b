{# A table is built from the first batch on, or not at all: a change set that begins later, or is a part, would leave
   out rows, and nobody would see it. #}
{% macro validate_complete_manifest(target_relation, manifest, apply) %}
  {%- set begins = target_relation ~ " cannot be built from the start: the change set " ~ manifest.change_set -%}
  {%- if should_full_refresh() and manifest.is_partial and not versioned_collapsing.is_partial_run() -%}
    {%- do versioned_collapsing.stop_run(apply,
        begins ~ " was built by a run with --empty or --sample, so the table would lack rows. Build the change set "
        ~ "and the table: dbt run --full-refresh --select +" ~ manifest.change_set ~ "+"
    ) -%}
  {%- elif not manifest.is_complete and not manifest.is_partial -%}
    {%- do versioned_collapsing.stop_run(apply,
        begins ~ " does not begin at the first batch, so the table would lack rows. Build the change set and the "
        ~ "table: dbt run "
        ~ ('--full-refresh ' if should_full_refresh() else '') ~ "--select " ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}
