{# How far an apply is, as the ledger has it. Each step makes a new one, for example dict(progress, chunk=2).

   - chunk: the chunk to begin with, or the last one that was decided; counts: those of the chunks so far
   - is_journal: whether rows are inserted block by block instead of attached
   - definition: hashes of the views that have the rows by way of a journal
   - block: the block of the journal to begin with
   - source: the role of the staged table with the changes of all chunks; change_count: how many it has
   - line_counts: the lines and events to account for
   - truncated_at: an expression for the version at which the table was truncated, or none
   - number: the number of the apply, once any of its rows are published or about to be; 0 before
   - is_repeated: whether this run repeats the decisions of a run that died while it published #}
{% macro get_initial_progress() %}
  {%- do return({
      'chunk': 1,
      'block': 0,
      'counts': {},
      'line_counts': {},
      'truncated_at': none,
      'is_journal': false,
      'definition': '',
      'number': 0,
      'source': 'changes',
      'change_count': 0,
      'is_repeated': false,
  }) -%}
{% endmacro %}


{# How far an apply was when its run died. #}
{% macro get_progress_of(unfinished) %}
  {%- do return(dict(
      versioned_collapsing.get_initial_progress(),
      chunk=unfinished.chunk,
      block=unfinished.block,
      is_journal=unfinished.is_journal,
      definition=unfinished.definition,
      number=unfinished.number
  )) -%}
{% endmacro %}
