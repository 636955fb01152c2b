{# How the rows of an apply are published, and the tables made ready for it: `is_journal`, and the hashes of the views
   that have the rows then. #}
{% macro prepare_publishing(target_relation, options, progress, apply) %}
  {%- set views = versioned_collapsing.read_views(target_relation) -%}
  {%- set unfed = versioned_collapsing.get_unfed_views(views, progress.definition) -%}
  {%- set is_replicated = versioned_collapsing.get_replication(target_relation) != '' -%}
  {%- if not versioned_collapsing.should_journal(options, unfed, is_replicated, progress, apply) -%}
    {%- do versioned_collapsing.validate_can_attach(target_relation, unfed, apply) -%}
    {%- do return({'is_journal': false, 'definition': progress.definition}) -%}
  {%- endif -%}
  {%- for table in [target_relation] + views.tables -%}
    {%- do versioned_collapsing.keep_deduplication_window(table) -%}
  {%- endfor -%}
  {%- do return({'is_journal': true, 'definition': views.definitions | join(' ')}) -%}
{% endmacro %}


{# Materialized views need inserts: they are fed with what is inserted, not with what is attached. So do rows that come
   signed: after an attachment that died, no comparison says which of them are missing. An insert can die half done, so
   that it is written block by block, each of which can be repeated. What a comparison has found missing after that is
   attached: the views have it.

   A replicated table attaches one partition after the other, and leaves out a part that is, byte by byte, one that it
   was given before: there too, rows are inserted. #}
{% macro should_journal(options, unfed, is_replicated, progress, apply) %}
  {%- set is_asked_for = (options.publish == 'journal' or is_replicated) and not progress.is_repeated -%}
  {%- do return(apply.is_stream or is_asked_for or (options.publish != 'atomic' and unfed != [])) -%}
{% endmacro %}


{# The views that do not have the rows of this apply, of which `fed` are the hashes of those that do. #}
{% macro get_unfed_views(views, fed) %}
  {%- set unfed = [] -%}
  {%- for definition, view in views.definitions.items() if definition not in fed.split(' ') -%}
    {%- do unfed.append(view) -%}
  {%- endfor -%}
  {%- do return(unfed | unique | sort) -%}
{% endmacro %}
