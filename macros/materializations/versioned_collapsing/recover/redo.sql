{# Repeats the decisions of a run that died while it published. Rows that are already stored are found among the
   uncollapsed rows, so only the missing rows are published. If views were created since then, the rows go through a
   journal. #}
{% macro redo_apply(target_relation, options, columns, recorded, progress, apply) %}
  {%- set role = versioned_collapsing.get_change_set_role(options, is_repeated=columns.is_folded) -%}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, role) -%}
  {%- set progress = dict(
      progress, chunk=1, block=0, source=role, change_count=versioned_collapsing.read_row_count(source),
      counts=versioned_collapsing.get_initial_counts({}), is_journal=false, is_repeated=true
  ) -%}
  {%- do versioned_collapsing.prepare_gathered(target_relation, options, columns, progress, apply) -%}
  {%- set missing = versioned_collapsing.decide_chunks(target_relation, options, columns, progress, apply) -%}
  {%- set counts = dict(recorded, has_writes=missing.has_writes, has_deletes=missing.has_deletes) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, chunk=options.chunks, counts=counts), apply
  ) -%}
{% endmacro %}
