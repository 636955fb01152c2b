{# The counts of an apply, as the ledger has them. #}
{% macro get_count_names() %}
  {%- do return([
      'rows_read', 'keys', 'states', 'cancels', 'deletes', 'duplicates', 'stale', 'unmerged', 'conflicts', 'tombstoned',
      'repaired',
      'superseded', 'derived', 'truncates'
  ]) -%}
{% endmacro %}


{# The columns in which a row of a change set may count the events that it stands for. #}
{% macro get_carried_count_names() %}
  {%- do return(['_duplicates', '_conflicts', '_superseded', '_derived']) -%}
{% endmacro %}


{# The counts of the lines of a batch: all lines, and each kind of line. #}
{% macro get_line_count_names() %}
  {%- do return(['lines', 'blank', 'quarantined', 'passed_over', 'events']) -%}
{% endmacro %}


{# All counts of an apply: those in `read`, and 0 for the others. #}
{% macro get_initial_counts(read) %}
  {%- set counts = dict.fromkeys(versioned_collapsing.get_count_names(), 0) -%}
  {%- do counts.update({'conflict_sample': [], 'columns_to_fill': [], 'has_writes': false, 'has_deletes': false}) -%}
  {%- do counts.update(read) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The sums of the counts of two chunks. #}
{% macro get_added_counts(total, counts) %}
  {%- set sum = {} -%}
  {%- for name, value in total.items() -%}
    {%- do sum.update({name: (value or counts[name]) if value is boolean else value + counts.get(name, 0)}) -%}
  {%- endfor -%}
  {%- do return(sum) -%}
{% endmacro %}
