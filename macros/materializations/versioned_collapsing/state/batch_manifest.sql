{# The batch manifest of the change set that a model selects from: its batches, whether it begins at the first batch,
   whether it is a snapshot of a whole lake table, and whether it is only a part (--empty, --sample). A model that
   selects from something other than a change_set model has no manifest. #}
{% macro read_change_set_manifest(model) %}
  {%- set change_sets = versioned_collapsing.get_change_sets(model) -%}
  {%- set is_partial_run = versioned_collapsing.is_partial_run() -%}
  {%- if not change_sets -%}
    {%- do return({
        'exists': false, 'batches': [], 'line_counts': {}, 'is_complete': true, 'is_partial': is_partial_run,
    }) -%}
  {%- endif -%}
  {%- set relation = versioned_collapsing.get_manifest_relation(change_sets[0]) -%}
  {%- set found = run_query(
      'select * from ' ~ relation ~ ' order by batch ' ~ versioned_collapsing.get_settings_sql()
  ) -%}
  {%- set first = found.rows[0] -%}
  {#- Whole columns: a loop over thousands of rows takes seconds. -#}
  {%- set columns = found.columns.dict() -%}
  {%- set has_batches = first['batch'] is not none -%}
  {%- set landed_at = columns.get('landed_at', [none]) | list if has_batches else [] -%}
  {%- set is_complete = columns['is_complete'] | select | list | length > 0 -%}
  {%- set lake = versioned_collapsing.get_option(change_sets[0].config, 'lake') -%}
  {%- do return({
      'exists': true,
      'relation': relation,
      'id': first.get('id', ''),
      'batches': zip(columns['batch'] | map('int'), columns['hash']) | list if has_batches else [],
      'landed_at': [] if none in landed_at else landed_at | map('int') | list,
      'taken_at': first.get('taken_at') | int,
      'line_counts': versioned_collapsing._sum_line_counts(columns),
      'change_set': change_sets[0].name,
      'is_complete': is_complete,
      'is_lake_as_it_is': is_complete and lake is not none,
      'is_partial': is_partial_run or columns['is_partial'] | select | list | length > 0,
  }) -%}
{% endmacro %}


{# The sums of the line counts of all batches in a manifest; none for a count that a batch lacks. #}
{% macro _sum_line_counts(columns) %}
  {%- set counts = {} -%}
  {%- for name in versioned_collapsing.get_line_count_names() -%}
    {%- set values = columns.get(name, [none]) | list -%}
    {%- do counts.update({name: none if none in values else values | map('int') | sum}) -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}
