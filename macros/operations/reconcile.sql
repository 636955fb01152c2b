{# Compares the live rows of a model with a relation of the truth: by checksums of key ranges first, then, where
   they differ, key by key. `truth` is a model, or what can stand after `from` in ClickHouse. What differs is an error,
   for whoever waits for the exit code. #}
{% macro reconcile(model, truth, columns=none, show=20) %}
  {%- set node = versioned_collapsing.get_collapsing_node('reconcile', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('reconcile', node) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- do versioned_collapsing.validate_versioned_collapsing_options(node, options) -%}
  {%- set relation = versioned_collapsing.get_truth_relation(truth) -%}
  {%- do versioned_collapsing.validate_truth('reconcile', relation) -%}
  {%- set truth_text = versioned_collapsing.get_truth_text(truth) -%}
  {%- set types = versioned_collapsing.read_stored_columns(table, options.sign) -%}
  {%- set given = versioned_collapsing.read_types(relation) -%}
  {%- set compared = versioned_collapsing.as_list(columns) or (types | select('in', given) | list) -%}
  {%- set unknown = compared | reject('in', types) | list -%}
  {%- if unknown -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: columns: " ~ table ~ " lacks " ~ unknown ~ ". It has " ~ types | list ~ "."
    ) -%}
  {%- endif -%}
  {%- set lacking = (options.unique_key + compared) | unique | reject('in', given) | list -%}
  {%- if lacking -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: " ~ truth_text ~ " lacks " ~ lacking ~ ". It has " ~ given | list ~ "."
    ) -%}
  {%- endif -%}
  {%- set names = (options.unique_key + compared) | unique | list -%}
  {%- set described = versioned_collapsing._describe_compared(names, types, given) -%}
  {%- set rows = {
      'live': versioned_collapsing.get_reconcile_rows_sql(table ~ ' final', described, options.unique_key,
      versioned_collapsing.quote_name(options.sign) ~ ' = 1', is_live=true),
      'true': versioned_collapsing.get_reconcile_rows_sql(relation, described, options.unique_key, 'true',
      is_live=false),
  } -%}
  {%- set different = run_query(versioned_collapsing.get_different_ranges_sql(rows)).rows -%}
  {%- set ranges = different | map(attribute='_dbt_key_range') | list -%}
  {%- if not ranges -%}
    {%- do log(table ~ ' agrees with ' ~ truth_text ~ ' in ' ~ names | join(', '), info=true) -%}
    {%- do return({'missing': 0, 'unexpected': 0, 'different': 0}) -%}
  {%- endif -%}
  {%- set found = run_query(versioned_collapsing.get_different_keys_sql(rows, options.unique_key, ranges, show)) -%}
  {%- set counts = {'missing': 0, 'unexpected': 0, 'different': 0} -%}
  {%- for row in found.rows -%}
    {%- do counts.update({row['difference']: row['n'] | int}) -%}
  {%- endfor -%}
  {%- do exceptions.raise_compiler_error(
      "reconcile: " ~ table ~ " differs from " ~ truth_text ~ ": " ~ versioned_collapsing.format_count(counts.missing,
      'key') ~ " missing, "
      ~ counts.unexpected ~ " unexpected, " ~ counts.different ~ " with other values\n  "
      ~ versioned_collapsing.format_table(found) | join("\n  ")
  ) -%}
{% endmacro %}
