{# What becomes of each staged change; every key falls under one name. #}
{% macro count_outcomes(target, options, columns, run) %}
  {%- set found = versioned_collapsing.read_outcomes(target, options, columns, run, compares_payload=false) -%}
  {%- set has_torn_keys = versioned_collapsing.has_torn_keys(target, options, found.matched) -%}
  {%- if has_torn_keys -%}
    {%- do versioned_collapsing.stage_torn_keys(target, options, run) -%}
  {%- endif -%}
  {%- if has_torn_keys or 'same version' in found.outcomes -%}
    {%- set found = versioned_collapsing.read_outcomes(target, options, columns, run, compares_payload=true) -%}
  {%- endif -%}
  {%- set outcomes = found.outcomes -%}
  {%- if 'conflict' in outcomes -%}
    {%- do versioned_collapsing.read_conflict_sample(
        versioned_collapsing.get_conflicts_sql(target, options, columns, run), run
    ) -%}
  {%- endif -%}
  {%- set writes = outcomes.keys() | select('in', ('insert', 'update', 'delete', 'delete of an absent key',
      'repaired')) | list -%}
  {%- set counts = versioned_collapsing.start_counts({}) -%}
  {%- do counts.update({
      'keys': outcomes.values() | sum,
      'states': outcomes.get('insert', 0) + outcomes.get('update', 0),
      'cancels': outcomes.get('update', 0) + outcomes.get('delete', 0),
      'deletes': outcomes.get('delete', 0) + outcomes.get('delete of an absent key', 0),
      'duplicates': outcomes.get('duplicate', 0),
      'stale': outcomes.get('stale', 0),
      'unmerged': found.unmerged,
      'conflicts': outcomes.get('conflict', 0),
      'tombstoned': outcomes.get('tombstoned', 0),
      'repaired': outcomes.get('repaired', 0),
      'has_writes': writes != [],
      'has_deletes': 'delete' in outcomes or 'delete of an absent key' in outcomes or 'repaired' in outcomes,
  }) -%}
  {%- do return(counts) -%}
{% endmacro %}


{% macro read_outcomes(target, options, columns, run, compares_payload) %}
  {%- set outcomes = {} -%}
  {%- set total = namespace(matched=0, unmerged=0) -%}
  {%- for row in run_query(versioned_collapsing.get_outcomes_sql(target, options, columns, run,
      compares_payload)).rows -%}
    {%- do outcomes.update({row['_dbt_outcome']: row['_dbt_n'] | int}) -%}
    {%- set total.matched = total.matched + row['_dbt_matched'] | int -%}
    {%- set total.unmerged = total.unmerged + row['_dbt_unmerged_rows'] | int -%}
  {%- endfor -%}
  {%- do return({'outcomes': outcomes, 'matched': total.matched, 'unmerged': total.unmerged}) -%}
{% endmacro %}
