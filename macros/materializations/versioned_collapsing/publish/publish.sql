{# Publishes the staged rows, and after them the deletes to remember, so that no tombstone is visible before its
   delete. #}
{% macro publish_staged_rows(target_relation, options, columns, progress, apply) %}
  {%- if progress.is_journal -%}
    {%- do versioned_collapsing.publish_blocks(target_relation, options, columns, progress, apply) -%}
  {%- else -%}
    {%- do versioned_collapsing.attach_staged(target_relation, 'signed', target_relation, apply) -%}
  {%- endif -%}
  {%- if apply.remembers_deletes and progress.counts.has_deletes -%}
    {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
    {%- do versioned_collapsing.attach_staged(target_relation, 'deletes', tombstones, apply) -%}
  {%- endif -%}
{% endmacro %}


{# Chooses how to publish, writes the change feed and records the start. If the run dies after that, the next run
   completes it in the same way, with the counts that were recorded. Returns the progress. #}
{% macro start_publishing(target_relation, options, columns, progress, apply) %}
  {%- do versioned_collapsing.renew_lock(apply) -%}
  {%- set way = versioned_collapsing.prepare_publishing(target_relation, options, progress, apply) -%}
  {%- set progress = dict(progress, number=progress.number or apply.number, **way) -%}
  {%- do versioned_collapsing.feed_rows(target_relation, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'started') -%}
  {%- do return(progress) -%}
{% endmacro %}


{# Publishes the rows of all chunks together, and records the apply. #}
{% macro publish_and_record(target_relation, options, columns, progress, apply) %}
  {%- if progress.counts.has_writes -%}
    {%- set progress = versioned_collapsing.start_publishing(
        target_relation, options, columns, progress, apply
    ) -%}
    {%- do versioned_collapsing.publish_staged_rows(target_relation, options, columns, progress, apply) -%}
  {%- endif -%}
  {%- if apply.is_resumed or apply.batches or progress.counts.rows_read -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'applied') -%}
  {%- endif -%}
{% endmacro %}
