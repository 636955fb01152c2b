{# Decides how the rows of an apply are published, and prepares the tables for it. Returns `is_journal`, and in
   `definition` the hashes of the views that have the rows through a journal. #}
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


{# Rows are inserted if the option says so, and in three other cases. Materialized views receive what is inserted, not
   what is attached. Rows of `old_state: stream` need inserts, because after an attach that was interrupted, no
   comparison tells which rows are missing. A replicated table attaches one partition after the other, and leaves out a
   part that is, byte by byte, equal to an earlier one.

   An insert can be interrupted halfway. So rows are written block by block, and each block can be repeated. Rows that a
   comparison finds missing after that are attached: the views already have them. #}
{% macro should_journal(options, unfed, is_replicated, progress, apply) %}
  {%- set is_asked_for = (options.publish == 'journal' or is_replicated) and not progress.is_repeated -%}
  {%- do return(apply.is_stream or is_asked_for or (options.publish != 'atomic' and unfed != [])) -%}
{% endmacro %}


{# The names of the views that do not have the rows of this apply. `fed` has the hashes of the views that have them. #}
{% macro get_unfed_views(views, fed) %}
  {%- set unfed = [] -%}
  {%- for definition, view in views.definitions.items() if definition not in fed.split(' ') -%}
    {%- do unfed.append(view) -%}
  {%- endfor -%}
  {%- do return(unfed | unique | sort) -%}
{% endmacro %}
