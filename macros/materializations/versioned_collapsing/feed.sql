{# Writes the staged rows to the change feed, before the ledger says that their apply has begun. If the run dies in
   between, the next run takes the same apply number, and first removes what this run left in the feed. #}
{% macro feed_rows(target_relation, options, columns, progress, apply) %}
  {%- if progress.is_repeated -%}
    {%- do return(none) -%}
  {%- elif not apply.feed -%}
    {%- do versioned_collapsing.drop_unpublished_from_feed(target_relation, apply) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set feed_columns = versioned_collapsing.prepare_feed(target_relation, options, apply) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {% call statement('feed') -%}
    {{ versioned_collapsing.get_feed_rows_sql(target_relation, options, columns, feed_columns, apply) }}
  {%- endcall %}
{% endmacro %}

{# An apply that writes nothing to the feed has a number too. A run that died may have written rows under that
   number. #}
{% macro drop_unpublished_from_feed(target_relation, apply) %}
  {%- if load_cached_relation(apply.feed_relation) is not none
      and versioned_collapsing.read_feed_columns(target_relation, apply.feed_relation).feed
      and versioned_collapsing.read_row_count(apply.feed_relation, '_apply >= ' ~ apply.number) -%}
    {%- do versioned_collapsing._delete_from_feed('_apply >= ' ~ apply.number, apply, is_awaited=true) -%}
  {%- endif -%}
{% endmacro %}

{# The columns of a table and of its change feed. A column that the table computes itself is stored in the feed like any
   other. A column that exists only in inserts (EPHEMERAL) is left out. `is_taken`: whether a table that is no feed has
   the feed's name. #}
{% macro read_feed_columns(target_relation, feed_relation) %}
  {%- set query -%}
    select table, name, type, default_kind, default_expression
    from system.columns
    where ({{ versioned_collapsing.get_is_table_sql(target_relation, 'table') }}
        or {{ versioned_collapsing.get_is_table_sql(feed_relation, 'table') }})
      and default_kind <> 'EPHEMERAL'
    order by table, position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set described = {'table': [], 'feed': {}} -%}
  {%- for row in run_query(query).rows -%}
    {%- if row['table'] == target_relation.identifier -%}
      {%- do described.table.append(dict(zip(row.keys(), row.values()))) -%}
    {%- else -%}
      {%- do described.feed.update({row['name']: row['type']}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set is_feed = versioned_collapsing.get_feed_columns() | reject('in', described.feed) | list == [] -%}
  {%- do return({
      'table': described.table,
      'feed': described.feed if is_feed else {},
      'is_taken': described.feed and not is_feed,
  }) -%}
{% endmacro %}

{% macro _delete_from_feed(condition, apply, is_awaited) %}
  {%- set settings = versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 1 if is_awaited else 0}) -%}
  {%- do versioned_collapsing.alter_table(apply.feed_relation, 'delete where ' ~ condition, settings) -%}
{% endmacro %}

{# Makes sure that the change feed exists, with the columns of the table. Removes rows of applies that were never
   published, and rows that nobody needs any more. Returns the names of the columns to fill. #}
{% macro prepare_feed(target_relation, options, apply) %}
  {%- set described = versioned_collapsing.read_feed_columns(target_relation, apply.feed.relation) -%}
  {%- do versioned_collapsing.validate_feed_columns(target_relation, described.table, apply) -%}
  {%- do versioned_collapsing.validate_feed_place(described, apply) -%}
  {%- set version = described.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- set altered = [] -%}
  {%- for column in described.table + [dict(version, name='_changed_version')]
      if described.feed.get(column.name, column.type) != column.type -%}
    {%- do altered.append(column) -%}
  {%- endfor -%}
  {%- if not described.feed or (altered and not versioned_collapsing._read_has_rows_of(target_relation, apply)) -%}
    {%- do versioned_collapsing.create_feed(target_relation, options, described.table, apply) -%}
  {%- else -%}
    {%- do versioned_collapsing.alter_feed(apply.feed.relation, described, altered) -%}
    {%- do versioned_collapsing.set_feed_ttl(apply) -%}
    {%- do versioned_collapsing.trim_feed(target_relation, apply) -%}
  {%- endif -%}
  {%- do return(described.table | selectattr('default_kind', 'ne', 'ALIAS') | map(attribute='name') | list) -%}
{% endmacro %}

{# The change feed needs some column names for itself. #}
{% macro validate_feed_columns(target_relation, table_columns, apply) %}
  {%- set own = versioned_collapsing.get_feed_columns() -%}
  {%- set taken = table_columns | map(attribute='name') | select('in', own) | list -%}
  {%- if taken -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing.get_final_name(target_relation) ~ " has "
        ~ ("a column" if taken | length == 1 else "columns") ~ " with a name that the change feed needs: "
        ~ taken | join(', ') ~ ". Rename " ~ ("it" if taken | length == 1 else "them") ~ " in the model, or "
        ~ "set `change_feed: false` if no view reads the table."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The change feed needs a table name for itself. #}
{% macro validate_feed_place(described, apply) %}
  {%- if described.is_taken -%}
    {%- do versioned_collapsing.stop_run(apply,
        apply.feed.relation ~ " is not a change feed. Rename or drop it, or set `change_feed: false` if no view reads "
        ~ "the table."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Whether the feed has rows of this table. If it has only rows of an earlier table with the same name, the feed is
   created again and not altered: values may not fit the new types, and the type of a key cannot be altered. #}
{% macro _read_has_rows_of(target_relation, apply) %}
  {%- set condition -%}
    _apply in (
      select apply
      from {{ versioned_collapsing.get_ledger_relation(target_relation) }}
      where target_uuid = {{ versioned_collapsing.get_table_uuid_sql(target_relation) }} and apply > 0
    )
  {%- endset -%}
  {%- do return(versioned_collapsing.read_row_count(apply.feed.relation, condition) > 0) -%}
{% endmacro %}

{# Creates the change feed. If the option `change_feed` asks for it (is_history), it begins with the live rows of the
   table, with apply number 0. The feed is filled under another name, so that it never has only some of them. #}
{% macro create_feed(target_relation, options, table_columns, apply) %}
  {%- set build = versioned_collapsing.get_helper_relation(target_relation, 'feed') -%}
  {%- do versioned_collapsing.drop_tables([build]) -%}
  {% call statement('create_feed') -%}
    {{ versioned_collapsing.get_create_feed_sql(build, target_relation, options, table_columns, apply.feed) }}
  {%- endcall %}
  {%- if apply.feed.is_history -%}
    {% call statement('fill_feed') -%}
      {{ versioned_collapsing.get_first_feed_rows_sql(build, target_relation, options, table_columns, apply) }}
    {%- endcall %}
    {%- do versioned_collapsing._note_begin(build, target_relation, apply) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_tables([apply.feed.relation]) -%}
  {%- do versioned_collapsing.rename_table(build, apply.feed.relation) -%}
{% endmacro %}

{% macro get_create_feed_sql(build, target_relation, options, table_columns, feed) -%}
  create table {{ build }} {{ on_cluster_clause(target_relation) }} (
    {%- for column in table_columns %}
    {{ versioned_collapsing.get_feed_column_sql(column) }},
    {%- endfor %}
    _apply UInt64 comment 'Number of the apply in the ledger; 0: the row was there before the first',
    _applied_at DateTime64(6, 'UTC') comment 'When the apply began to publish its rows',
    _changed_version {{ (table_columns | selectattr('name', 'equalto', options.version) | first).type }}
      comment 'Version of the change that caused the row',
    index _applied_at _applied_at type minmax
  )
  engine = {{ versioned_collapsing.get_engine_name(build, 'MergeTree') }}
  partition by intDiv(_apply, 100)
  order by (_apply, {{ versioned_collapsing.quote_names(options.unique_key) }})
  {%- if feed.interval %}
  ttl {{ versioned_collapsing.get_feed_ttl_sql(feed) }}
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(more={'ttl_only_drop_parts': 1}) }}
  comment {{ versioned_collapsing.quote_literal(versioned_collapsing.get_feed_comment(target_relation)) }}
{%- endmacro %}

{% macro get_feed_column_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- do return(
      name ~ ' ' ~ column.type ~ (' alias ' ~ column.default_expression if column.default_kind == 'ALIAS' else '')
  ) -%}
{% endmacro %}

{% macro get_feed_ttl_sql(feed) %}
  {%- do return('toDateTime(_applied_at) + ' ~ feed.interval if feed.interval else '') -%}
{% endmacro %}

{% macro get_feed_comment(target_relation) %}
  {%- do return('Change feed of ' ~ target_relation.identifier) -%}
{% endmacro %}

{% macro get_first_feed_rows_sql(build, target_relation, options, table_columns, apply) -%}
  {%- set stored = table_columns | selectattr('default_kind', 'ne', 'ALIAS') | map(attribute='name') -%}
  {%- set names = versioned_collapsing.quote_names(stored) -%}
  insert into {{ build }} ({{ names }}, _apply, _applied_at, _changed_version)
  select
    {{ names }},
    0 as _dbt_apply,
    now64(6, 'UTC') as _dbt_at,
    {{ versioned_collapsing.quote_name(options.version) }} as _dbt_by_version
  from {{ target_relation }} final
  where {{ versioned_collapsing.quote_name(options.sign) }} = 1
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}

{# Notes in the comment what the feed begins with. A reader of the feed must know that, and whether all of it is still
   there. #}
{% macro _note_begin(build, target_relation, apply) %}
  {%- set found = run_query(
      'select count() as n, toString(' ~ versioned_collapsing.get_table_uuid_sql(target_relation) ~ ') as uuid from '
      ~ build ~ ' ' ~ versioned_collapsing.get_settings_sql()
  ).rows[0] -%}
  {%- set comment = versioned_collapsing.get_feed_comment(target_relation)
      ~ '. Begins with ' ~ found['n'] ~ ' rows of ' ~ found['uuid'] ~ ', then apply ' ~ apply.number -%}
  {%- do versioned_collapsing.comment_table(build, comment) -%}
{% endmacro %}

{# Adds the columns that only the table has, and changes the types that differ. #}
{% macro alter_feed(feed_relation, described, altered) %}
  {%- set added = described.table | rejectattr('name', 'in', described.feed) | list -%}
  {%- set settings = versioned_collapsing.get_settings_sql(more={'mutations_sync': 1, 'alter_sync': 1}) -%}
  {%- for column in added + altered -%}
    {%- set change = ('add' if column in added else 'modify') ~ ' column ' -%}
    {%- do versioned_collapsing.alter_table(
        feed_relation, change ~ versioned_collapsing.get_feed_column_sql(column), settings
    ) -%}
  {%- endfor -%}
{% endmacro %}

{# Makes the feed keep its rows for as long as the option now says. #}
{% macro set_feed_ttl(apply) %}
  {%- set feed = apply.feed.relation -%}
  {%- set engine = versioned_collapsing.read_tables([feed])[feed.identifier].engine_full -%}
  {%- set has = versioned_collapsing._get_ttl_of_engine(engine) -%}
  {%- set wanted = versioned_collapsing.get_feed_ttl_sql(apply.feed) -%}
  {%- if has != wanted -%}
    {%- do versioned_collapsing.alter_table(
        feed, 'modify ttl ' ~ wanted if wanted else 'remove ttl',
        versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 0, 'alter_sync': 1})
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro _get_ttl_of_engine(engine_full) %}
  {%- do return(modules.re.findall(' TTL (.*?)(?: SETTINGS |$)', engine_full) | first | default('')) -%}
{% endmacro %}

{# Removes from the change feed the rows of an apply that was never published, and rows that are no longer needed: those
   that all views have used, and those of an earlier table with the same name. #}
{% macro trim_feed(target_relation, apply) %}
  {%- set query = versioned_collapsing.get_feed_bounds_sql(target_relation, apply) -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if found['last'] | int >= apply.number -%}
    {%- do versioned_collapsing._delete_from_feed('_apply >= ' ~ apply.number, apply, is_awaited=true) -%}
  {%- endif -%}
  {%- if found['is_old'] | int -%}
    {%- do versioned_collapsing._delete_from_feed(
        versioned_collapsing.get_is_old_in_feed_sql(target_relation, apply), apply, is_awaited=false
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The last apply in the feed, and whether the feed has rows that are no longer needed. #}
{% macro get_feed_bounds_sql(target_relation, apply) -%}
  {%- set feed = apply.feed.relation -%}
  select
    (select _apply from {{ feed }} order by _apply desc limit 1) as last,
    (
      select count()
      from (
        select _apply
        from {{ feed }}
        where {{ versioned_collapsing.get_is_old_in_feed_sql(target_relation, apply) }}
        limit 1
      )
    ) as is_old
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}

{% macro get_is_old_in_feed_sql(target_relation, apply) -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- set uuid = versioned_collapsing.get_table_uuid_sql(target_relation) -%}
  {%- if apply.feed.is_history -%}
    _apply < (select minIf(apply, apply > 0) from {{ ledger }} where target_uuid = {{ uuid }})
      and _applied_at < (select min(at) from {{ ledger }} where target_uuid = {{ uuid }})
  {%- else -%}
    {#- A view that was never filled needs no rows of the feed: it is filled from the table itself. -#}
    _apply < (
      select if(count() = 0, {{ apply.number }}, min(used) + 1)
      from (
        select argMax(apply, at) as used
        from {{ ledger }}
        where status = 'filled'
          and model in ({{ versioned_collapsing.quote_literals(apply.feed.views) }})
          and source_uuid = {{ uuid }}
          and target_uuid in (select uuid from system.tables where not endsWith(name, '__dbt_build'))
        group by model
      )
    )
  {%- endif -%}
{%- endmacro %}

{# Each staged row with the number and the time of the apply, and the version of the change that caused the row. For
   rows of `old_state: stream`, that is the highest version of the key in the apply. #}
{% macro get_feed_rows_sql(target_relation, options, columns, feed_columns, apply) -%}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set names = versioned_collapsing.quote_names(feed_columns) -%}
  {%- set key = versioned_collapsing.quote_names(options.unique_key) -%}
  {%- set version = versioned_collapsing.quote_name(options.version) -%}
  insert into {{ apply.feed.relation }} ({{ names }}, _apply, _applied_at, _changed_version)
  select
    {{ names }},
    {{ apply.number }} as _dbt_apply,
    {{ versioned_collapsing.get_later_time_sql(
        apply.feed.relation, '_applied_at', '_apply >= ' ~ (apply.number - 1)
    ) }} as _dbt_at,
    if(_dbt_is_changed, greatest({{ version }}, _dbt_changed_version), {{ version }}) as _dbt_by_version
  from (select {{ names }} from {{ signed }}) as _dbt_signed
  left any join (
    {%- if apply.is_stream %}
    select {{ key }}, max({{ version }}) as _dbt_changed_version, true as _dbt_is_changed
    from {{ signed }}
    group by {{ key }}
    {%- else %}
    {%- set role = 'folded' if columns.is_folded else 'input' %}
    select {{ key }}, {{ version }} as _dbt_changed_version, true as _dbt_is_changed
    from {{ versioned_collapsing.get_helper_relation(target_relation, role) }}
    {%- endif %}
  ) as _dbt_changed using ({{ key }})
  {{ versioned_collapsing.get_settings_sql(apply, dict(
      versioned_collapsing.get_merge_join_settings(), max_partitions_per_insert_block=0
  )) }}
{%- endmacro %}

{# Removes the note about the rows that a feed begins with. When a table is adopted, its feed cannot tell how the table
   began. #}
{% macro forget_begin_of_feed(target_relation) %}
  {%- set feed = versioned_collapsing.get_feed_relation(target_relation) -%}
  {%- if versioned_collapsing.read_feed_columns(target_relation, feed).feed -%}
    {%- do versioned_collapsing.comment_table(feed, versioned_collapsing.get_feed_comment(target_relation)) -%}
  {%- endif -%}
{% endmacro %}
