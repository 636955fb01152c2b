{# Has the tables ready to be written to, and returns how they are: `is_journal`, and with a journal the hashes of the
   views on them. #}
{% macro prepare_publishing(target_relation, options, apply) %}
  {%- set views = versioned_collapsing.read_views(target_relation) -%}
  {%- set is_journal = versioned_collapsing.should_journal(options, apply, views) -%}
  {%- if is_journal -%}
    {%- for table in [target_relation] + views.tables -%}
      {%- do versioned_collapsing.keep_deduplication_window(table) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return({
      'is_journal': is_journal,
      'definition': views.definitions | join(' ') if is_journal else '',
  }) -%}
{% endmacro %}


{# Whether the rows are written so that an insert which died can be repeated block by block. Materialized
   views need it: they are fed with what is inserted, and not together with the table. #}
{% macro should_journal(options, apply, views) %}
  {%- set is_automatic = options.publish == 'auto' and views.tables != [] -%}
  {%- do return(apply.is_stream or options.publish == 'journal' or is_automatic) -%}
{% endmacro %}
