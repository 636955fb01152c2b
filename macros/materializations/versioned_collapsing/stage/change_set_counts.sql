{# The counts of the whole change set, before it is reduced to one change per key.

   - counts: the rows and the counts that they carry; the rows that repeat, contradict or are below another row of the
     same change set; and the rows that a truncate overrides
   - line_counts: the lines and events to account for #}
{% macro read_change_set_counts(options, columns, sql, truncate, staged, carried, apply) %}
  {%- set repeated = versioned_collapsing.get_no_repetitions() -%}
  {%- if carried.rows_read > staged.key_count or truncate.at -%}
    {%- set repeated = versioned_collapsing.read_repetitions(options, columns, sql, truncate.at, apply) -%}
  {%- endif -%}
  {%- set counts = {
      'rows_read': carried.rows_read,
      'duplicates': carried._duplicates + repeated.duplicates,
      'conflicts': carried._conflicts + repeated.conflicts,
      'superseded': carried._superseded + repeated.superseded,
      'derived': carried._derived + staged.truncate_deletes,
      'truncates': truncate.count,
      'tombstoned': versioned_collapsing._read_truncated_count(options, columns, sql, truncate.at, apply),
      'conflict_sample': repeated.conflict_sample,
  } -%}
  {%- do return({
      'counts': versioned_collapsing.get_initial_counts(counts),
      'line_counts': versioned_collapsing.get_line_counts(apply, columns, carried),
  }) -%}
{% endmacro %}


{# The number of changes that a truncate overrides. #}
{% macro _read_truncated_count(options, columns, sql, truncated_at, apply) %}
  {%- if not truncated_at -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set query -%}
    select count() as _dbt_n
    from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, none) }})
    where {{ adapter.quote(options.version) }} <= {{ truncated_at }}
      {%- if options.delete_version == 'ignore' %}
      and not _dbt_is_deleted
      {%- endif %}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['_dbt_n'] | int) -%}
{% endmacro %}
