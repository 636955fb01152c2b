{# Compares one key range after the other with a truth, until it has compared the whole table: a cycle. Each run
   continues where the last one ended. `position` is the version up to which the truth is known; keys that the table has
   changed above it are passed over. A difference is an error, so that the exit code shows it. #}
{% macro verify(model, truth, columns=none, position=none, ranges=16, at_once=1, show=20) %}
  {%- set comparison = versioned_collapsing.read_comparison('verify', model, truth, columns) -%}
  {%- do versioned_collapsing.validate_ranges(ranges, at_once) -%}
  {%- do versioned_collapsing.prepare_ledger(comparison.table) -%}
  {%- set position = versioned_collapsing.read_position(comparison, position) -%}
  {%- do versioned_collapsing.validate_position(comparison, position) -%}
  {%- do versioned_collapsing.create_verifications(comparison.table) -%}
  {%- set keys = versioned_collapsing.get_range_keys(comparison) -%}
  {%- set definition = versioned_collapsing.get_cycle_definition(comparison, keys, position, ranges) -%}
  {%- set left = versioned_collapsing.read_ranges_left(comparison, definition) -%}
  {%- if not left -%}
    {%- do versioned_collapsing.plan_cycle(comparison, keys, definition, ranges) -%}
    {%- set left = versioned_collapsing.read_ranges_left(comparison, definition) -%}
  {%- endif -%}
  {%- set total = namespace(counts={}) -%}
  {%- for range in left[:at_once] -%}
    {%- set counts = versioned_collapsing.verify_range(comparison, keys, position, range, show) -%}
    {%- set total.counts = versioned_collapsing.get_added_verified_counts(total.counts, counts) -%}
  {%- endfor -%}
  {%- set done = versioned_collapsing.read_cycle(comparison, left[0].cycle) -%}
  {%- do versioned_collapsing.validate_no_fault(comparison, total.counts, done) -%}
  {%- do log(versioned_collapsing.get_verified_message(comparison, total.counts, done), info=true) -%}
  {%- do return(total.counts) -%}
{% endmacro %}


{# Compares a range, and records what was found. #}
{% macro verify_range(comparison, keys, position, range, show) %}
  {%- set is_live_in = versioned_collapsing.get_is_in_range_sql(keys.live, range) -%}
  {%- set is_true_in = versioned_collapsing.get_is_in_range_sql(keys.true, range) -%}
  {%- set rows = versioned_collapsing.get_compared_rows_sql(comparison, is_live_in, is_true_in) -%}
  {%- set is_later = versioned_collapsing.get_is_later_sql(comparison, position, is_live_in) -%}
  {%- set found = run_query(versioned_collapsing.get_verified_counts_sql(comparison, rows, is_later, show)).rows[0] -%}
  {%- set counts = {'differing_keys': found['differing_keys']} -%}
  {%- for name in versioned_collapsing.get_verified_names() -%}
    {%- do counts.update({name: found[name] | int}) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.record_verified(comparison, position, range, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}
