{# Stages the stored rows of the keys that change. The staged table has an engine that collapses as the target does, so
   its rows collapse when they are read. The target itself is read without FINAL, which costs less. A cancel row in
   another partition than its state row never merges with it. So `pairing`, the expressions that the rows of a pair
   share, includes those of the partition. `is_filled`: whether an earlier chunk was staged. Returns what
   read_uncollapsed_rows returns. #}
{% macro stage_uncollapsed_rows(target_relation, options, columns, pairing, change_count, is_filled, apply) %}
  {%- set uncollapsed = versioned_collapsing.get_helper_relation(target_relation, 'uncollapsed') -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  {%- set names = get_quoted_csv(columns.names + [options.sign]) -%}
  {%- do versioned_collapsing.prepare_staged_table(
      uncollapsed, versioned_collapsing._get_create_uncollapsed_rows_sql(uncollapsed, options, columns, pairing), apply,
      is_filled
  ) -%}
  {%- do versioned_collapsing.prepare_staged_table(
      torn, versioned_collapsing._get_create_torn_keys_sql(torn, options, columns), apply, is_filled
  ) -%}
  {% call statement('stage_uncollapsed_rows') -%}
    insert into {{ uncollapsed }} ({{ names }})
    select {{ names }}
    from ({{ versioned_collapsing.get_stored_rows_sql(target_relation, options, columns, change_count) }})
    {{ versioned_collapsing.get_settings_sql(apply, dict(
        versioned_collapsing.get_merge_join_settings(), optimize_on_insert=0, use_query_condition_cache=0
    )) }}
  {%- endcall %}
  {%- do return(versioned_collapsing.read_uncollapsed_rows(target_relation, options)) -%}
{% endmacro %}


{% macro _get_create_uncollapsed_rows_sql(uncollapsed, options, columns, pairing) -%}
  create table {{ uncollapsed }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {{ adapter.quote(options.sign) }} Int8
  )
  engine = VersionedCollapsingMergeTree({{ adapter.quote(options.sign) }}, {{ adapter.quote(options.version) }})
  order by ({{ pairing | join(', ') }})
{%- endmacro %}


{% macro _get_create_torn_keys_sql(torn, options, columns) -%}
  create table {{ torn }} (
    {%- for column in columns.table if column.name in options.unique_key %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
  )
  engine = MergeTree
  order by ({{ get_quoted_csv(options.unique_key) }})
{%- endmacro %}
