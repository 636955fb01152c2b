{# The counts of an apply, as the ledger has them. #}
{% macro get_count_names() %}
  {%- do return([
      'rows_read', 'keys', 'states', 'cancels', 'deletes', 'duplicates', 'stale', 'unmerged', 'conflicts', 'tombstoned', 'repaired'
  ]) -%}
{% endmacro %}


{# Counts before anything is compared: what was read, and what one change a key left out. #}
{% macro start_counts(read) %}
  {%- set counts = dict.fromkeys(versioned_collapsing.get_count_names(), 0) -%}
  {%- do counts.update(read) -%}
  {%- do counts.update({'has_writes': false, 'has_deletes': false}) -%}
  {%- do return(counts) -%}
{% endmacro %}


{% macro add_counts(total, counts) %}
  {%- set sum = {} -%}
  {%- for name, value in total.items() -%}
    {%- do sum.update({name: (value or counts[name]) if value is boolean else value + counts.get(name, 0)}) -%}
  {%- endfor -%}
  {%- do return(sum) -%}
{% endmacro %}


{# What was read, before one change a key was kept: rows, those that repeat or contradict another row of the
   same change set, and those below a truncate. #}
{% macro read_change_set_counts(target, options, columns, sql, run) %}
  {%- set read = versioned_collapsing.read_staged_counts(target, options, columns) -%}
  {%- set rows_read = run_query('select count() as _dbt_n from ' ~ versioned_collapsing._subquery(sql) ~ ' ' ~ versioned_collapsing.get_settings_sql(run)).rows[0]['_dbt_n'] | int -%}
  {%- do read.update({'rows_read': rows_read}) -%}
  {%- if run.truncated_at -%}
    {%- set query -%}
      select count() as _dbt_n from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, {}) }}) where {{ adapter.quote(options.version) }} <= {{ run.truncated_at }}{{ ' and not _dbt_is_deleted' if options.delete_version == 'ignore' }}
      {{ versioned_collapsing.get_settings_sql(run) }}
    {%- endset -%}
    {%- do read.update({'tombstoned': run_query(query).rows[0]['_dbt_n'] | int}) -%}
  {%- endif -%}
  {%- if rows_read > read.staged_keys or run.truncated_at -%}
    {%- set key_version = get_quoted_csv(options.unique_key + [options.version]) -%}
    {%- set row = 'tuple(' ~ get_quoted_csv(columns.names) ~ ', _dbt_is_deleted' ~ (', _dbt_unset' if columns.is_folded else '') ~ ')' -%}
    {%- set query -%}
      select
        count() - uniqExact({{ row }}) as _dbt_duplicates_found,
        uniqExactIf({{ row }}, not _dbt_is_deleted) - uniqExactIf(tuple({{ key_version }}), not _dbt_is_deleted) as _dbt_conflicts_found
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
    }) -%}
  {%- endif -%}
  {%- do return(read) -%}
{% endmacro %}


{# The same for changes staged earlier: only what the staged table knows. #}
{% macro read_staged_counts(target, options, columns) %}
  {%- set n = 'uniqExact(tuple(' ~ get_quoted_csv(options.unique_key) ~ '))' if columns.is_folded else 'count()' -%}
  {%- set staged = run_query(
      'select ' ~ n ~ ' as _dbt_n, sum(_dbt_duplicates) as _dbt_repeats, sum(_dbt_conflicts) as _dbt_conflicting from '
      ~ versioned_collapsing.get_change_set_relation(target, options) ~ ' ' ~ versioned_collapsing.get_settings_sql()
  ).rows[0] -%}
  {%- do return({
      'rows_read': staged['_dbt_n'] | int,
      'staged_keys': staged['_dbt_n'] | int,
      'duplicates': staged['_dbt_repeats'] | int,
      'conflicts': staged['_dbt_conflicting'] | int,
  }) -%}
{% endmacro %}
