{# The counts for the ledger. A delete or an update of a stored row writes a cancel row. #}
{% macro get_counts_of_outcomes(outcomes, unmerged, conflict_sample) %}
  {%- set written = ('insert', 'update', 'delete', 'delete of an absent key', 'repaired') -%}
  {%- set deleted = ('delete', 'delete of an absent key', 'repaired') -%}
  {%- do return(versioned_collapsing.get_initial_counts({
      'keys': outcomes.values() | sum,
      'states': outcomes.get('insert', 0) + outcomes.get('update', 0),
      'cancels': outcomes.get('update', 0) + outcomes.get('delete', 0),
      'deletes': outcomes.get('delete', 0) + outcomes.get('delete of an absent key', 0),
      'duplicates': outcomes.get('duplicate', 0),
      'stale': outcomes.get('stale', 0),
      'unmerged': unmerged,
      'conflicts': outcomes.get('conflict', 0),
      'tombstoned': outcomes.get('tombstoned', 0),
      'repaired': outcomes.get('repaired', 0),
      'conflict_sample': conflict_sample,
      'has_writes': outcomes | select('in', written) | list != [],
      'has_deletes': outcomes | select('in', deleted) | list != [],
  })) -%}
{% endmacro %}
