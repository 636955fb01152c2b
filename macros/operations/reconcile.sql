{# Compares the live rows of a model with a relation of the truth: by checksums of key ranges first, then, where
   they differ, key by key. `truth` is a model, or what can stand after `from` in ClickHouse. What differs is an error,
   for whoever waits for the exit code. #}
{% macro reconcile(model, truth, columns=none, show=20) %}
  {%- set node = versioned_collapsing.get_collapsing_node('reconcile', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('reconcile', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set relation = versioned_collapsing.get_truth_relation(truth) -%}
  {%- do versioned_collapsing.validate_truth('reconcile', relation) -%}
  {%- set truth_text = versioned_collapsing.get_truth_text(truth) -%}
  {%- set types = versioned_collapsing.read_stored_columns(table, options.sign) -%}
  {%- set given = versioned_collapsing.read_types(relation) -%}
  {%- set compared = versioned_collapsing.as_list(columns) or (types | select('in', given) | list) -%}
  {%- set names = (options.unique_key + compared) | unique | list -%}
  {%- do versioned_collapsing.validate_reconciled_columns(table, truth_text, compared, names, types, given) -%}
  {%- set described = versioned_collapsing._describe_compared(names, types, given) -%}
  {%- set is_live_row = versioned_collapsing.quote_name(options.sign) ~ ' = 1' -%}
  {%- set rows = {
      'live': versioned_collapsing.get_reconcile_rows_sql(
          table ~ ' final', described, options.unique_key, is_live_row, is_live=true
      ),
      'true': versioned_collapsing.get_reconcile_rows_sql(
          relation, described, options.unique_key, 'true', is_live=false
      ),
  } -%}
  {%- set different = run_query(versioned_collapsing.get_different_ranges_sql(rows)).rows -%}
  {%- if different -%}
    {%- set ranges = different | map(attribute='_dbt_key_range') | list -%}
    {%- set found = run_query(versioned_collapsing.get_different_keys_sql(rows, options.unique_key, ranges, show)) -%}
    {%- do versioned_collapsing.validate_no_difference(table, truth_text, found) -%}
  {%- endif -%}
  {%- do log(table ~ ' agrees with ' ~ truth_text ~ ' in ' ~ names | join(', '), info=true) -%}
  {%- do return({'missing': 0, 'unexpected': 0, 'different': 0}) -%}
{% endmacro %}
