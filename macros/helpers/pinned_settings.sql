{# The pinned settings. Their values are SQL already: a macro call for each value of each statement would take longer
   than the statement.

   Deduplication is off. If a key gets a state row, a cancel row and the same state row again, the third row is equal to
   the first one, but must not be dropped as its duplicate. `optimize_injective_functions_inside_uniq` is off too:
   before ClickHouse 26.9, it leaves out tuples that have a null. #}
{% macro get_pinned_settings() %}
  {%- set settings = versioned_collapsing.get_cutting_settings() -%}
  {%- do settings.update({
      'aggregate_functions_null_for_empty': 0,
      'any_join_distinct_right_table_keys': 0,
      'apply_deleted_mask': 1,
      'asterisk_include_alias_columns': 0,
      'asterisk_include_materialized_columns': 0,
      'cast_keep_nullable': 0,
      'cast_string_to_date_time_mode': "'best_effort'",
      'data_type_default_nullable': 0,
      'date_time_input_format': "'best_effort'",
      'date_time_output_format': "'simple'",
      'date_time_overflow_behavior': "'ignore'",
      'decimal_check_overflow': 1,
      'deduplicate_insert': "'disable'",
      'deduplicate_insert_select': "'disable'",
      'describe_compact_output': 0,
      'describe_include_subcolumns': 0,
      'describe_include_virtual_columns': 0,
      'do_not_merge_across_partitions_select_final': 0,
      'empty_result_for_aggregation_by_empty_set': 0,
      'enable_analyzer': 1,
      'enable_global_with_statement': 1,
      'enable_positional_arguments': 1,
      'final': 0,
      'group_by_use_nulls': 0,
      'join_use_nulls': 0,
      'materialized_views_ignore_errors': 0,
      'optimize_injective_functions_inside_uniq': 0,
      'prefer_column_name_to_alias': 0,
      'show_create_query_identifier_quoting_rule': "'when_necessary'",
      'show_create_query_identifier_quoting_style': "'Backticks'",
      'skip_unavailable_shards': 0,
      'transform_null_in': 0,
  }) -%}
  {%- do return(settings) -%}
{% endmacro %}
