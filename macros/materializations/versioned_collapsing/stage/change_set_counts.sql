{# What was read, before one change a key was kept: rows and what they carry, those that repeat or contradict another
   row
   of the same change set or are below one, and those below a truncate. Adds to the run what its lines and events are.
   #}
{% macro read_change_set_counts(target, options, columns, sql, run) %}
  {%- set carried = versioned_collapsing._read_carried_counts(columns, sql, run) -%}
  {%- set read = {
      'rows_read': carried.rows_read,
      'duplicates': carried._duplicates,
      'conflicts': carried._conflicts,
      'superseded': carried._superseded,
      'derived': carried._derived + run.truncate_deletes,
      'truncates': run.truncates,
  } -%}
  {%- do run.update({
      'line_counts': versioned_collapsing.get_events_of_run(run.manifest_counts, columns, read, carried, run.is_partial)
  }) -%}
  {%- if run.truncated_at -%}
    {%- set query -%}
      select count() as _dbt_n from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, {}) }})
          where {{ adapter.quote(options.version) }} <= {{ run.truncated_at }}{{ ' and not _dbt_is_deleted'
          if options.delete_version == 'ignore' }}
      {{ versioned_collapsing.get_settings_sql(run) }}
    {%- endset -%}
    {%- do read.update({'tombstoned': run_query(query).rows[0]['_dbt_n'] | int}) -%}
  {%- endif -%}
  {%- if carried.rows_read > versioned_collapsing._read_staged_key_count(target, options, columns)
      or run.truncated_at -%}
    {%- set key_version = get_quoted_csv(options.unique_key + [options.version]) -%}
    {%- set row = 'tuple(' ~ get_quoted_csv(columns.names) ~ ', _dbt_is_deleted' ~ (', _dbt_unset' if columns.is_folded
        else '') ~ ')' -%}
    {%- set query -%}
      select
        count() - uniqExact({{ row }}) as _dbt_duplicates_found,
        uniqExactIf({{ row }}, not _dbt_is_deleted) - uniqExactIf(tuple({{ key_version }}),
            not _dbt_is_deleted) as _dbt_conflicts_found,
        uniqExact(tuple({{ get_quoted_csv(options.unique_key) }})) as _dbt_keys_found,
        uniqExact({{ row }}) - _dbt_conflicts_found - _dbt_keys_found as _dbt_superseded_found
      from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) }})
      {{ versioned_collapsing.get_settings_sql(run) }}
    {%- endset -%}
    {%- set repeated = run_query(query).rows[0] -%}
    {%- if repeated['_dbt_conflicts_found'] | int -%}
      {%- set query -%}
        select toString(tuple({{ key_version }})) as _dbt_conflict
        from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) }})
        where not _dbt_is_deleted
        group by _dbt_conflict
        having uniqExact({{ row }}) > 1
        order by _dbt_conflict
        limit 3
        {{ versioned_collapsing.get_settings_sql(run) }}
      {%- endset -%}
      {%- do versioned_collapsing.read_conflict_sample(query, run) -%}
    {%- endif -%}
    {%- do read.update({
        'duplicates': read.duplicates + repeated['_dbt_duplicates_found'] | int,
        'conflicts': read.conflicts + repeated['_dbt_conflicts_found'] | int,
        'superseded': read.superseded + repeated['_dbt_superseded_found'] | int,
    }) -%}
  {%- endif -%}
  {%- do return(read) -%}
{% endmacro %}
