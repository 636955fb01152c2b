{# Makes sure that the tables to which each chunk adds exist and are empty. #}
{% macro prepare_gathered(target_relation, options, columns, progress, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- do versioned_collapsing.prepare_twin(signed, target_relation, apply, is_new=true) -%}
  {%- if options.remember_deletes -%}
    {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
    {%- set deletes = versioned_collapsing.get_helper_relation(target_relation, 'deletes') -%}
    {%- do versioned_collapsing.prepare_twin(deletes, tombstones, apply) -%}
  {%- endif -%}
  {%- if columns.is_folded and options.chunks > 1 and not progress.is_repeated -%}
    {%- set resolved = versioned_collapsing.get_helper_relation(target_relation, 'resolved_set') -%}
    {%- do versioned_collapsing.prepare_staged_table(
        resolved, versioned_collapsing.get_create_staged_changes_sql(resolved, options, columns), apply
    ) -%}
  {%- endif -%}
{% endmacro %}
