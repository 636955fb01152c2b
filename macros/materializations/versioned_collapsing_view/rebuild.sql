{# Fills a table beside the old one and puts it in its place. The ledger's row comes last: without it the next
   run begins anew. Nobody writes to the source meanwhile, and what a run left half-written there is
   completed first, without the view. #}
{% macro rebuild_view(this, existing_relation, source_relation, options, apply, sql) %}
  {%- set build = versioned_collapsing.get_helper_relation(this, 'build') -%}
  {%- do run_query('drop view if exists ' ~ versioned_collapsing.get_trigger_relation(this)) -%}
  {%- do versioned_collapsing.recover_source(source_relation, options.source, apply) -%}
  {%- do versioned_collapsing.fill_view(build, options, apply, sql) -%}
  {%- if existing_relation is none -%}
    {%- do run_query('rename table ' ~ build ~ ' to ' ~ this) -%}
  {%- else -%}
    {%- do run_query('exchange tables ' ~ build ~ ' and ' ~ this) -%}
    {%- do run_query('drop table ' ~ build) -%}
  {%- endif -%}
  {%- do versioned_collapsing.create_trigger(this, source_relation, apply, sql) -%}
  {%- set progress = dict(versioned_collapsing.get_initial_progress(), definition=options.definition) -%}
  {%- do versioned_collapsing.record_apply(this, apply, progress, 'filled', source_relation) -%}
{% endmacro %}


{# Makes the materialized view, which from now on fills the table. #}
{% macro create_trigger(this, source_relation, apply, sql) %}
  {%- set trigger = versioned_collapsing.get_trigger_relation(this) -%}
  {%- do run_query('create materialized view ' ~ trigger ~ ' to ' ~ this ~ ' as ' ~ sql) -%}
  {%- set is_triggered = versioned_collapsing.read_is_triggered(source_relation, trigger) -%}
  {%- if not is_triggered -%}
    {%- do run_query('drop view ' ~ trigger) -%}
  {%- endif -%}
  {%- do versioned_collapsing.validate_view_is_triggered(this, source_relation, is_triggered, apply) -%}
{% endmacro %}
