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
    _changed_version {{ versioned_collapsing.get_type_of(table_columns, options.version) }}
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


{% macro get_type_of(table_columns, name) %}
  {%- do return((table_columns | selectattr('name', 'equalto', name) | first).type) -%}
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


{% macro get_feed_comment(target_relation) %}
  {%- do return('Change feed of ' ~ target_relation.identifier) -%}
{% endmacro %}


{# Removes the note about the rows that a feed begins with. When a table is adopted, its feed cannot tell how the table
   began. #}
{% macro forget_begin_of_feed(target_relation) %}
  {%- set feed = versioned_collapsing.get_changes_relation(target_relation) -%}
  {%- if versioned_collapsing.read_feed_columns(target_relation, feed).feed -%}
    {%- do versioned_collapsing._comment_feed(feed, versioned_collapsing.get_feed_comment(target_relation)) -%}
  {%- endif -%}
{% endmacro %}


{# Notes in the comment what the feed begins with. A reader of the feed must know that, and whether all of it is still
   there. #}
{% macro _note_begin(build, target_relation, apply) %}
  {%- set found = run_query(
      'select count() as n, toString(' ~ versioned_collapsing.get_table_uuid_sql(target_relation) ~ ') as uuid from '
      ~ build ~ ' ' ~ versioned_collapsing.get_settings_sql()
  ).rows[0] -%}
  {%- set comment = versioned_collapsing.get_feed_comment(target_relation)
      ~ '. Begins with ' ~ found['n'] ~ ' rows of ' ~ found['uuid'] ~ ', then apply ' ~ apply.number -%}
  {%- do versioned_collapsing._comment_feed(build, comment) -%}
{% endmacro %}


{% macro _comment_feed(feed_relation, comment) %}
  {%- do run_query(
      'alter table ' ~ feed_relation ~ ' ' ~ on_cluster_clause(feed_relation) ~ ' modify comment '
      ~ versioned_collapsing.quote_literal(comment)
  ) -%}
{% endmacro %}
