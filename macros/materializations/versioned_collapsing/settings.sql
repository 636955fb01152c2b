{# What every statement of the project says of the settings that could change its result: a server's user profile, or
   `custom_settings` in dbt's, may have any of them. Those of one statement come on top, in `more`. `run` lets the
   lock see the statement at work; what takes no time goes without. #}
{% macro get_settings_sql(run=none, more={}) %}
  {%- set settings = versioned_collapsing.get_pinned_settings() -%}
  {%- for name, value in more.items() -%}
    {%- do settings.update({name: versioned_collapsing._literal(value) if value is string else value}) -%}
  {%- endfor -%}
  {%- if run -%}
    {%- set log_comment = versioned_collapsing.get_log_comment(run.lock.run_id if run.lock else run.run_id) -%}
    {%- do settings.update({'log_comment': versioned_collapsing._literal(log_comment)}) -%}
  {%- endif -%}
  {%- set rendered = [] -%}
  {%- for name, value in settings.items() -%}
    {%- do rendered.append(name ~ ' = ' ~ value) -%}
  {%- endfor -%}
  {%- do return('settings ' ~ rendered | join(', ')) -%}
{% endmacro %}


{# The pinned settings with their values as SQL: a macro call for each value of each statement would take longer than the
   statement.

   Deduplication is off: of state, cancel and the same state again the third is a duplicate of the first, by content,
   and must not be dropped as one. #}
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
      'prefer_column_name_to_alias': 0,
      'show_create_query_identifier_quoting_rule': "'when_necessary'",
      'show_create_query_identifier_quoting_style': "'Backticks'",
      'skip_unavailable_shards': 0,
      'transform_null_in': 0,
  }) -%}
  {%- do return(settings) -%}
{% endmacro %}


{# Settings that leave rows out, or return old ones, without an error. #}
{% macro get_cutting_settings() %}
  {%- set settings = {
      'additional_result_filter': "''",
      'additional_table_filters': "'{}'",
      'join_default_strictness': "'ALL'",
      'limit': 0,
      'offset': 0,
      'use_query_cache': 0,
  } -%}
  {%- for what in ('distinct', 'group_by', 'join', 'read', 'result', 'set', 'sort', 'timeout', 'transfer') -%}
    {%- do settings.update({what ~ '_overflow_mode': "'throw'"}) -%}
  {%- endfor -%}
  {%- do settings.update({'read_overflow_mode_leaf': "'throw'", 'timeout_overflow_mode_leaf': "'throw'"}) -%}
  {%- do return(settings) -%}
{% endmacro %}


{# Settings that only newer servers have, so that no statement can name them: they wrap a select in another one, or give
   a table more columns. #}
{% macro get_refused_settings() %}
  {%- do return(['asterisk_include_virtual_columns', 'filter', 'implicit_table_at_top_level', 'order', 'select', 'sort']) -%}
{% endmacro %}


{# Stops the run when the profile has settings that leave rows out: dbt's own look at the tables could be wrong. #}
{% macro validate_settings(unique_id, profile) %}
  {%- set all = versioned_collapsing.get_pinned_settings() -%}
  {%- set pinned = versioned_collapsing.get_cutting_settings() -%}
  {%- set problems = [] -%}
  {%- if not profile -%}
    {%- do problems.append("settings of the profile: they leave out what is read of system.settings. Take " ~ (pinned.keys() | list + versioned_collapsing.get_refused_settings()) | join(', ') ~ " out of dbt's custom_settings and of the server's user profile.") -%}
  {%- endif -%}
  {%- for name, value in profile.items() if name not in all or name in pinned and value != pinned[name] | string | replace("'", '') -%}
    {%- do problems.append(name ~ ": is '" ~ value ~ "' in dbt's custom_settings or in the server's user profile, and dbt would read other rows or columns than its tables have. Take it out there.") -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(unique_id, problems) -%}
{% endmacro %}


{# The values that the pinned settings have in the profile, and those of refused ones that are set; empty
   when the answer is not complete: `limit` and its like do not show in system.settings, but in what is missing. #}
{% macro read_profile_settings() %}
  {%- set pinned = versioned_collapsing.get_pinned_settings() -%}
  {%- set query -%}
    select name as _dbt_name, value as _dbt_value
    from system.settings
    where name in ({{ versioned_collapsing._literals(pinned) }})
      or (name in ({{ versioned_collapsing._literals(versioned_collapsing.get_refused_settings()) }}) and value <> default)
  {%- endset -%}
  {%- set profile = {} -%}
  {%- for row in run_query(query).rows if row['_dbt_name'] is defined -%}
    {%- do profile.update({row['_dbt_name']: (row['_dbt_value'] or '') | string}) -%}
  {%- endfor -%}
  {%- do return(profile if pinned | reject('in', profile) | list == [] else {}) -%}
{% endmacro %}


{# The model's select, which means what it means in the profile: where the statements around it pin other values, it
   has those of the profile. #}
{% macro get_select_in_profile_sql(sql, profile) %}
  {%- set kept = {} -%}
  {%- for name, value in versioned_collapsing.get_pinned_settings().items() if name not in ('enable_analyzer', 'deduplicate_insert', 'deduplicate_insert_select') and profile[name] != value | string | replace("'", '') -%}
    {%- do kept.update({name: profile[name]}) -%}
  {%- endfor -%}
  {%- do return('select * from (\n' ~ sql ~ '\n) settings ' ~ versioned_collapsing._rendered_settings(kept) if kept else sql) -%}
{% endmacro %}


{% macro _rendered_settings(settings) %}
  {%- set rendered = [] -%}
  {%- for name, value in settings.items() -%}
    {%- do rendered.append(name ~ ' = ' ~ (versioned_collapsing._literal(value) if value is string else value)) -%}
  {%- endfor -%}
  {%- do return(rendered | join(', ')) -%}
{% endmacro %}
