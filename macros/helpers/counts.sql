{# The counts of an apply, as the ledger has them. #}
{% macro get_count_names() %}
  {%- do return([
      'rows_read', 'keys', 'states', 'cancels', 'deletes', 'duplicates', 'stale', 'unmerged', 'conflicts', 'tombstoned',
      'repaired',
      'superseded', 'derived', 'truncates'
  ]) -%}
{% endmacro %}


{# What a row of a change set may say of the events that it stands for. #}
{% macro get_carried_count_names() %}
  {%- do return(['_duplicates', '_conflicts', '_superseded', '_derived']) -%}
{% endmacro %}


{# What the lines of a batch are. #}
{% macro get_line_count_names() %}
  {%- do return(['lines', 'blank', 'quarantined', 'passed_over', 'events']) -%}
{% endmacro %}


{# Counts before anything is compared: what was read, and what one change a key left out. #}
{% macro get_initial_counts(read) %}
  {%- set counts = dict.fromkeys(versioned_collapsing.get_count_names(), 0) -%}
  {%- do counts.update({'conflict_sample': [], 'has_writes': false, 'has_deletes': false}) -%}
  {%- do counts.update(read) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The counts of two chunks as those of both. #}
{% macro get_added_counts(total, counts) %}
  {%- set sum = {} -%}
  {%- for name, value in total.items() -%}
    {%- do sum.update({name: (value or counts[name]) if value is boolean else value + counts.get(name, 0)}) -%}
  {%- endfor -%}
  {%- do return(sum) -%}
{% endmacro %}
