{# Where the SQL of a change set reads the lines of a staging model, and the condition on which it takes a line. Parsing
   costs most of the time, so the materialization parses the lines of this run once, into a table. The staging model
   itself is read if it does not parse lines, in a run on a part (--empty, --sample), and in a unit test, which has no
   `this`. #}
{% macro read_where_lines_are(events, columns) %}
  {%- set needed = ['_batch', '_file', '_block_start', '_raw_line', '_reason', '_version'] -%}
  {%- if this is not none and needed | reject('in', columns) | list == []
      and model.config.materialized == 'change_set'
      and not versioned_collapsing.is_partial_run()
      and versioned_collapsing._read_is_view(events) -%}
    {%- set table = versioned_collapsing.get_parsed_lines_relation(this, events) -%}
    {%- do return({'relation': table, 'is_taken': 'true', 'is_parsed': true}) -%}
  {%- endif -%}
  {%- do return({
      'relation': events, 'is_taken': versioned_collapsing.is_to_take('_batch'), 'is_parsed': false,
  }) -%}
{% endmacro %}


{% macro _read_is_view(relation) %}
  {%- set found = adapter.get_relation(relation.database, relation.schema, relation.identifier) -%}
  {%- do return(found is not none and found.is_view) -%}
{% endmacro %}
