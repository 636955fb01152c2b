{# The settings clause of a statement. It pins all settings that could change the result, because the server's user
   profile, or `custom_settings` in dbt's profile, may have changed any of them. `more` adds settings for this
   statement. `apply` marks the statement, so that others see that the holder of the lock is at work. Statements that
   take no time need no mark. #}
{% macro get_settings_sql(apply=none, more={}) %}
  {%- set settings = versioned_collapsing.get_pinned_settings() -%}
  {%- for name, value in more.items() -%}
    {%- do settings.update({name: versioned_collapsing.quote_literal(value) if value is string else value}) -%}
  {%- endfor -%}
  {%- if apply -%}
    {%- set log_comment = versioned_collapsing.get_log_comment(apply.lock.run_id if apply.lock else apply.run_id) -%}
    {%- do settings.update({'log_comment': versioned_collapsing.quote_literal(log_comment)}) -%}
  {%- endif -%}
  {%- set rendered = [] -%}
  {%- for name, value in settings.items() -%}{%- do rendered.append(name ~ ' = ' ~ value) -%}{%- endfor -%}
  {%- do return('settings ' ~ rendered | join(', ')) -%}
{% endmacro %}

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

{# Settings that can leave rows out, or return old ones, without an error. Each has the value at which it does not. #}
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

{# The comment that marks the statements of a run in system.processes and the query log. #}
{% macro get_log_comment(run_id) %}
  {%- do return('versioned_collapsing ' ~ run_id) -%}
{% endmacro %}

{# The maximum number of rows and bytes of a staged part, and of a block of the journal. Tests make them small. #}
{% macro get_block_size() %}
  {%- do return({'rows': var('versioned_collapsing_block_rows', 1048576) | int, 'bytes': 67108864}) -%}
{% endmacro %}

{# The settings of joins of blocks with sorted staged rows. An ANY join passes the columns of the left side on as they
   are. Otherwise ClickHouse would turn an ANY join with a filter into a SEMI join, which copies them row by row, and
   takes up to ten times as long. #}
{% macro get_merge_join_settings() %}
  {%- do return({'join_algorithm': 'partial_merge', 'query_plan_convert_any_join_to_semi_or_anti_join': 0}) -%}
{% endmacro %}

{# The time now or, if a clock was set back, a time just after the last recorded one: rows are read in the order of
   their times. #}
{% macro get_later_time_sql(relation, column, condition) %}
  {%- do return(
      "greatest(now64(6, 'UTC'), (select max(" ~ column ~ ') + toIntervalMicrosecond(1) from ' ~ relation ~ ' where '
      ~ condition ~ '))'
  ) -%}
{% endmacro %}

{# The profile's values of the pinned settings, and of the refused settings that are set. Empty if the answer is
   incomplete: a setting such as `limit` may not show in system.settings, but it hides other rows there. #}
{% macro read_profile_settings() %}
  {%- set pinned = versioned_collapsing.get_pinned_settings() -%}
  {%- set query -%}
    select name as _dbt_name, value as _dbt_value
    from system.settings
    where name in ({{ versioned_collapsing.quote_literals(pinned) }})
      or (name in ({{ versioned_collapsing.quote_literals(versioned_collapsing.get_refused_settings()) }})
          and value <> default)
  {%- endset -%}
  {%- set profile = {} -%}
  {%- for row in run_query(query).rows if row['_dbt_name'] is defined -%}
    {%- do profile.update({row['_dbt_name']: (row['_dbt_value'] or '') | string}) -%}
  {%- endfor -%}
  {%- do return(profile if pinned | reject('in', profile) | list == [] else {}) -%}
{% endmacro %}

{# Settings that wrap a select in another one, or give a table more columns. Older servers lack them, so no statement
   can name them. #}
{% macro get_refused_settings() %}
  {%- do return([
      'asterisk_include_virtual_columns', 'filter', 'implicit_table_at_top_level', 'order', 'select', 'sort',
  ]) -%}
{% endmacro %}

{# Stops the run if the profile has settings that leave rows out. dbt's own queries about the tables could then be
   wrong. #}
{% macro validate_settings(unique_id, profile) %}
  {%- set all = versioned_collapsing.get_pinned_settings() -%}
  {%- set pinned = versioned_collapsing.get_cutting_settings() -%}
  {%- set problems = [] -%}
  {%- if not profile -%}
    {%- do problems.append(
        "A setting of the profile hides rows of system.settings, so the settings cannot be checked. Remove "
        ~ (pinned.keys() | list + versioned_collapsing.get_refused_settings()) | join(', ')
        ~ " from dbt's custom_settings and from the server's user profile."
    ) -%}
  {%- endif -%}
  {%- for name, value in profile.items() if name not in all or name in pinned
      and value != pinned[name] | string | replace("'", '') -%}
    {%- do problems.append(
        name ~ " is '" ~ value ~ "' in dbt's custom_settings or in the server's user profile. It can leave out "
        ~ "rows or add columns without an error. Remove it there."
    ) -%}
  {%- endfor -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(
        unique_id ~ " cannot run with the settings of the profile:\n  - " ~ problems | join("\n  - ")
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The model's select, which must mean what it means under the profile's settings. If the statements around it pin other
   values, its own `settings` clause restores those of the profile. #}
{% macro get_select_in_profile_sql(sql, profile) %}
  {%- set without_meaning = (
      'enable_analyzer', 'deduplicate_insert', 'deduplicate_insert_select', 'optimize_injective_functions_inside_uniq',
  ) -%}
  {%- set kept = {} -%}
  {%- for name, value in versioned_collapsing.get_pinned_settings().items()
      if name not in without_meaning and profile[name] != value | string | replace("'", '') -%}
    {%- do kept.update({name: profile[name]}) -%}
  {%- endfor -%}
  {%- do return(
      'select * from (\n' ~ sql ~ '\n) settings ' ~ versioned_collapsing.get_settings_list_sql(kept) if kept else sql
  ) -%}
{% endmacro %}

{% macro get_settings_list_sql(settings) %}
  {%- set rendered = [] -%}
  {%- for name, value in settings.items() -%}
    {%- do rendered.append(name ~ ' = ' ~ (versioned_collapsing.quote_literal(value) if value is string else value)) -%}
  {%- endfor -%}
  {%- do return(rendered | join(', ')) -%}
{% endmacro %}

{# Lets this session send statements about a thousand columns or batches, and more. ClickHouse applies these limits
   before it parses a statement, so the statement itself cannot set them. They change no result. #}
{% macro allow_wide_statements(batches, columns=[]) %}
  {%- if columns | length > 100 or batches | length > 1000 -%}
    {%- do run_query(
        'set max_query_size = 268435456, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000, '
        ~ 'max_parser_backtracks = 100000000'
    ) -%}
  {%- endif -%}
{% endmacro %}
