{# Stops the run when deletes of this table were remembered, and are no more: a late change would bring rows back. #}
{% macro validate_tombstones_are_there(target, options, ledger, run, model) %}
  {%- if options.remember_deletes and ledger.deletes and not var('forget_deletes', false)
      and versioned_collapsing.read_comment(versioned_collapsing.get_tombstones_relation(target)) is none -%}
    {%- do versioned_collapsing.stop_run(run,
        target ~ " has had " ~ versioned_collapsing.format_count(ledger.deletes, 'delete') ~ ", and "
        ~ versioned_collapsing.get_tombstones_relation(target)
        ~ ", which remembers them, is not there: late changes would bring rows back. Restore it from a backup, or "
        ~ "rebuild the table: "
        ~ versioned_collapsing.get_rebuild_command(model) ~ ". To go on, and remember deletes from now on only: dbt "
        ~ "run --select " ~ model.name
        ~ " --vars '{forget_deletes: true}'"
    ) -%}
  {%- endif -%}
{% endmacro %}
