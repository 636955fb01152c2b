{# How the rows of an apply will be published, and the tables made ready for it. Returns `is_journal`, and with a
   journal the hashes of the views on the table and how many rows a block may have. #}
{% macro prepare_publishing(target_relation, options, staged_role, apply) %}
  {%- set views = versioned_collapsing.read_views(target_relation) -%}
  {%- set is_journal = versioned_collapsing.should_journal(options, apply, views) -%}
  {%- if not is_journal -%}
    {%- do versioned_collapsing.validate_can_attach(target_relation, options, views, apply) -%}
    {%- do return({'is_journal': false, 'definition': '', 'block_rows': none}) -%}
  {%- endif -%}
  {%- for table in [target_relation] + views.tables -%}
    {%- do versioned_collapsing.keep_deduplication_window(table) -%}
  {%- endfor -%}
  {%- set staged = versioned_collapsing.get_helper_relation(target_relation, staged_role) -%}
  {%- do return({
      'is_journal': true,
      'definition': views.definitions | join(' '),
      'block_rows': versioned_collapsing.read_block_rows(staged),
  }) -%}
{% endmacro %}


{# Materialized views need inserts: they are fed with what is inserted, not with what is attached. So do rows that come
   signed: after an attachment that died, no comparison says which of them are missing. An insert can die half done, so
   that it is written block by block, each of which can be repeated. #}
{% macro should_journal(options, apply, views) %}
  {%- set is_automatic = options.publish == 'auto' and views.tables != [] -%}
  {%- do return(apply.is_stream or options.publish == 'journal' or is_automatic) -%}
{% endmacro %}
