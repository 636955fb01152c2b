{# Continues with the chunk after the last one that was recorded. Removes what the run that died has already gathered
   from that chunk on. #}
{% macro resume_chunks(target_relation, options, columns, counts, progress, apply) %}
  {%- set role = versioned_collapsing.get_change_set_role(options) -%}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, role) -%}
  {%- set progress = dict(
      progress, chunk=progress.chunk + 1, block=0, source=role, counts=counts,
      change_count=versioned_collapsing.read_row_count(source)
  ) -%}
  {%- do versioned_collapsing.drop_gathered_from_chunk(target_relation, options, progress, apply) -%}
  {%- set decided = versioned_collapsing.decide_chunks(target_relation, options, columns, progress, apply) -%}
  {%- set all = dict(decided, has_writes=true, has_deletes=true) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, chunk=options.chunks, counts=all), apply
  ) -%}
{% endmacro %}
