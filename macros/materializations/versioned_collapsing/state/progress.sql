{# How far an apply is, as the ledger has it; each step makes a new one, as dict(progress, chunk=2). `counts`: of the
   chunks before. `truncated_at`: an expression for the version at which the table was truncated, or none. `is_journal`:
   whether rows are written block by block. `definition`: hashes of the views on the table. #}
{% macro get_initial_progress() %}
  {%- do return({
      'chunk': 1,
      'block': 0,
      'counts': {},
      'line_counts': {},
      'truncated_at': none,
      'is_journal': false,
      'definition': '',
  }) -%}
{% endmacro %}


{# How far an apply was when its run died. #}
{% macro get_progress_of(unfinished) %}
  {%- do return(dict(
      versioned_collapsing.get_initial_progress(),
      chunk=unfinished.chunk,
      block=unfinished.block,
      is_journal=unfinished.is_journal,
      definition=unfinished.definition
  )) -%}
{% endmacro %}
