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


{# An apply that writes nothing to the feed has a number too. A run that died may have written rows under that
   number. #}
{% macro drop_unpublished_from_feed(target_relation, apply) %}
  {%- if load_cached_relation(apply.feed_relation) is not none
      and versioned_collapsing.read_feed_columns(target_relation, apply.feed_relation).feed
      and versioned_collapsing.read_row_count(apply.feed_relation, '_apply >= ' ~ apply.number) -%}
    {%- do versioned_collapsing._delete_from_feed('_apply >= ' ~ apply.number, apply, is_awaited=true) -%}
  {%- endif -%}
{% endmacro %}


{% macro _delete_from_feed(condition, apply, is_awaited) %}
  {%- set feed = apply.feed_relation -%}
  {%- do run_query(
      'alter table ' ~ feed ~ ' ' ~ on_cluster_clause(feed) ~ ' delete where ' ~ condition
      ~ ' ' ~ versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 1 if is_awaited else 0})
  ) -%}
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
