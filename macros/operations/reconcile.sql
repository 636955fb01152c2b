{# Compares the live rows of a model with a truth: first by checksums of key ranges, then key by key where these differ.
   `truth` is a model, or what can stand after `from` in ClickHouse. A difference is an error, so that the exit code
   shows it. #}
{% macro reconcile(model, truth, columns=none, show=20) %}
  {%- set comparison = versioned_collapsing.read_comparison('reconcile', model, truth, columns) -%}
  {%- set unique_key = comparison.options.unique_key -%}
  {%- set rows = versioned_collapsing.get_compared_rows_sql(comparison) -%}
  {%- set different = run_query(versioned_collapsing.get_different_ranges_sql(rows)).rows -%}
  {%- set ranges = different | map(attribute='_dbt_key_range') | list -%}
  {%- set found = run_query(versioned_collapsing.get_different_keys_sql(rows, unique_key, ranges, show))
      if different else none -%}
  {%- set counts = versioned_collapsing.get_difference_counts(found) -%}
  {%- do versioned_collapsing.create_verifications(comparison.table) -%}
  {%- do versioned_collapsing.record_reconciled(comparison, counts) -%}
  {%- do versioned_collapsing.validate_no_difference(comparison, counts, found) -%}
  {%- do log(
      comparison.table ~ ' agrees with ' ~ comparison.truth_text ~ ' in ' ~ comparison.columns | join(', '), info=true
  ) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# How many keys differ, by kind. #}
{% macro get_difference_counts(found) %}
  {%- set counts = {'missing': 0, 'unexpected': 0, 'different': 0} -%}
  {%- if found -%}
    {%- for row in found.rows -%}
      {%- do counts.update({row['difference']: row['n'] | int}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}
