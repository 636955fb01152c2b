{# Whether the rows are written so that an insert which died can be repeated block by block. Materialized
   views need it: they are fed with what is inserted, and not together with the table. #}
{% macro uses_journal(target, options, run) %}
  {%- set views = versioned_collapsing.read_views(target) -%}
  {%- set is_journal = options.publish == 'journal' or run.is_stream or (options.publish == 'auto'
      and views.tables != []) -%}
  {%- if is_journal -%}
    {%- for table in [target] + views.tables -%}
      {%- do versioned_collapsing.keep_deduplication_window(table) -%}
    {%- endfor -%}
    {%- do run.update({'definition': views.definitions | join(' ')}) -%}
  {%- endif -%}
  {%- do return(is_journal) -%}
{% endmacro %}
