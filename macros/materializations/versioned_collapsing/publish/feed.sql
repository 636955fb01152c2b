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
  {% call statement('feed') -%}
    {{ versioned_collapsing.get_feed_rows_sql(target_relation, options, columns, feed_columns, apply) }}
  {%- endcall %}
{% endmacro %}


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
    {%- set role = versioned_collapsing.get_change_set_role(options, is_repeated=columns.is_folded) %}
    select {{ key }}, {{ version }} as _dbt_changed_version, true as _dbt_is_changed
    from {{ versioned_collapsing.get_helper_relation(target_relation, role) }}
    {%- endif %}
  ) as _dbt_changed using ({{ key }})
  {{ versioned_collapsing.get_settings_sql(apply, dict(
      versioned_collapsing.get_merge_join_settings(), max_partitions_per_insert_block=0
  )) }}
{%- endmacro %}
