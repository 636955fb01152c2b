{# If deletes of this table were remembered and are lost, a late change would bring deleted rows back. #}
{% macro validate_tombstones_are_there(target_relation, tables, options, ledger, apply, model) %}
  {%- set are_lost = options.remember_deletes and ledger.deletes and not tables.tombstones -%}
  {%- if are_lost and not var('forget_deletes', false) -%}
    {%- do versioned_collapsing.stop_run(apply,
        target_relation ~ " has had " ~ versioned_collapsing.format_count(ledger.deletes, 'delete') ~ ", but "
        ~ versioned_collapsing.get_tombstones_relation(target_relation)
        ~ ", which remembers deletes, does not exist. Late changes would bring deleted rows back. Restore it from a "
        ~ "backup, or rebuild the table: " ~ versioned_collapsing.get_rebuild_command(model) ~ ". To continue and "
        ~ "remember only deletes from now on: dbt run --select " ~ model.name ~ " --vars '{forget_deletes: true}'"
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Deletes of another table must not be taken for those of this one. #}
{% macro validate_tombstones_are_ours(target_relation, are_ours, apply, model) %}
  {%- if not are_ours -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing.get_tombstones_relation(target_relation) ~ " holds the deletes of another table, not of "
        ~ target_relation ~ ". If the table was restored or copied together with its deletes, adopt it: "
        ~ "dbt run-operation adopt_table --args '{model: " ~ model.name ~ "}'. Otherwise rebuild it: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
