{# The current snapshot of an Iceberg table and those from which it descends, as far as they have not expired. The IDs
   of snapshots have no order. So the number of a batch is the time of the commit, in microseconds, and always above
   that of its parent. `hash` is the ID of the snapshot, `follows` that of its parent. #}
{% macro read_iceberg_snapshots(lake) %}
  {%- set chain = versioned_collapsing._read_iceberg_chain(lake.relation) -%}
  {%- set commits = {} -%}
  {%- set last = namespace(batch=-1) -%}
  {%- for snapshot in chain -%}
    {%- set last.batch = [snapshot['at'] | int, last.batch + 1] | max -%}
    {%- do commits.update({last.batch: {
        'files': 1,
        'landed_at': snapshot['at'] | int,
        'locations': [],
        'hash': snapshot['id'],
        'follows': snapshot['parent'] or '',
        'lake_version': snapshot['id'],
        'deletes': snapshot['deletes'] | int,
    }}) -%}
  {%- endfor -%}
  {%- do return(commits) -%}
{% endmacro %}

{# The rows of these snapshots, the oldest first. #}
{% macro _read_iceberg_chain(relation) %}
  {%- set by_id = {} -%}
  {%- set query -%}
    select
      cast(snapshot_id as string) as id,
      cast(parent_id as string) as parent,
      unix_micros(committed_at) as at,
      if(operation = 'replace', '0', coalesce(summary['total-delete-files'], '0')) as deletes
    from {{ relation }}.snapshots
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do by_id.update({row['id'] | string: row}) -%}
  {%- endfor -%}
  {%- set current -%}
    select cast(snapshot_id as string) as id from {{ relation }}.refs where name = 'main'
  {%- endset -%}
  {%- set heads = run_query(current).rows -%}
  {%- set chain = [] -%}
  {%- set next = namespace(id=heads[0]['id'] | string if heads else '') -%}
  {%- for _ in by_id if next.id in by_id -%}
    {%- do chain.append(by_id[next.id]) -%}
    {%- set next.id = by_id[next.id]['parent'] | string -%}
  {%- endfor -%}
  {%- do return(chain | reverse | list) -%}
{% endmacro %}

{# Iceberg's changelog of a range of snapshots, as a temporary view. Rows that were only rewritten are not in it. #}
{% macro get_create_changelog_sql(lake, log, landed, pending) -%}
  {%- set begin = landed[pending[0]].follows -%}
  call {{ lake.catalog }}.system.create_changelog_view(
    table => '{{ lake.relation }}',
    changelog_view => '{{ log }}',
    options => map(
      {{ "'start-snapshot-id', '" ~ begin ~ "', " if begin }}'end-snapshot-id', '{{ landed[pending[-1]].hash }}'
    )
  )
{%- endmacro %}

{% macro get_iceberg_feed_sql(log, columns, landed, pending) -%}
  select
    {{ get_quoted_csv(columns) }},
    pending._batch,
    log._change_type in ('INSERT', 'UPDATE_AFTER') as _is_after,
    false as _is_truncate
  from {{ log }} as log
  inner join (
    select *
    from values
      {%- for batch in pending %}
      ({{ landed[batch].hash }}, cast({{ batch }} as bigint)){{ ',' if not loop.last }}
      {%- endfor %}
    as pending (_snapshot_id, _batch)
  ) as pending on log._commit_snapshot_id = pending._snapshot_id
{%- endmacro %}
