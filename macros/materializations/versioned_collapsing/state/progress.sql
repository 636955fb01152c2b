{# How far an apply is, as the ledger has it; each step makes a new one, as dict(progress, chunk=2).

   - chunk: the chunk to begin with, or the one that was decided; counts: of the chunks before
   - is_journal: whether rows are inserted block by block instead of attached
   - definition: hashes of the views that have the rows by way of a journal
   - block: the block of the journal to begin with
   - source: the role of the staged table with the changes of all chunks; change_count: how many it has
   - line_counts: what lines and events are accounted for
   - truncated_at: an expression for the version at which the table was truncated, or none
   - number: of the apply, when anything of it is published or about to be; 0 before
   - is_repeated: whether what a run decided that died while it published is decided once more #}
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
