{# The temporary view from which a change set of a lake reads its changes. It has the columns of the row, `_batch`,
   `_is_after` and `_is_truncate`. `_is_after` distinguishes the row after a commit from the row before it. The
   materialization makes the view, because it knows the batches. #}
{% macro get_lake_feed_name(change_set) %}
  {%- do return(change_set.schema ~ '__' ~ change_set.identifier ~ '__feed') -%}
{% endmacro %}


{# The statements that make this view. If no target has applied an earlier commit, the view is the table as it was after
   the last commit. Then the feed, which may lack the first commits, is not needed. #}
{% macro get_lake_feed_statements(lake, feed, columns, landed, taken, is_snapshot) %}
  {%- set statements = [] -%}
  {%- if not taken -%}
    {%- set rows = versioned_collapsing._get_lake_snapshot_sql(lake.relation, columns, 0, '') ~ ' where false' -%}
  {%- elif is_snapshot -%}
    {%- set rows = versioned_collapsing._get_lake_snapshot_sql(
        lake.relation, columns, taken[-1], ' version as of ' ~ landed[taken[-1]].lake_version
    ) ~ versioned_collapsing._get_lake_truncate_sql(columns, taken[-1]) -%}
  {%- elif lake.format == 'delta' -%}
    {%- set rows = versioned_collapsing.get_delta_feed_sql(lake, columns, taken) -%}
  {%- else -%}
    {%- do statements.append(versioned_collapsing.get_create_changelog_sql(lake, feed ~ '_log', landed, taken)) -%}
    {%- set rows = versioned_collapsing.get_iceberg_feed_sql(feed ~ '_log', columns, landed, taken) -%}
  {%- endif -%}
  {%- do statements.append('create or replace temporary view ' ~ feed ~ ' as\n' ~ rows) -%}
  {%- do return(statements) -%}
{% endmacro %}


{% macro _get_lake_snapshot_sql(relation, columns, batch, as_of) -%}
  select
    {{ versioned_collapsing.get_lake_columns_sql(columns) }},
    cast({{ batch }} as bigint) as _batch,
    true as _is_after,
    false as _is_truncate
  from {{ relation }}{{ as_of }}
{%- endmacro %}


{# The truncate that a snapshot begins with. Commit 0 needs none, because nothing is below it. #}
{% macro _get_lake_truncate_sql(columns, batch) -%}
  {%- if batch > 0 %}
  union all
  select
    {%- for name, type in columns.items() %}
    cast(null as {{ type }}) as {{ adapter.quote(name) }},
    {%- endfor %}
    cast({{ batch }} as bigint) as _batch,
    true as _is_after,
    true as _is_truncate
  {%- endif %}
{%- endmacro %}


{# Makes the view from which a change set of a lake reads. In a run with --empty or --sample, the view has no rows. #}
{% macro create_lake_feed(model, lake, landed, taken, is_snapshot) %}
  {%- if not is_snapshot -%}
    {%- do versioned_collapsing.validate_lake_feed(model, lake, landed, taken) -%}
  {%- endif -%}
  {%- for sql in versioned_collapsing.get_lake_feed_statements(
      lake,
      versioned_collapsing.get_lake_feed_name(this),
      versioned_collapsing.read_column_types(lake.relation),
      landed,
      [] if versioned_collapsing.is_partial_run() else taken,
      is_snapshot,
  ) -%}
    {%- call statement('create_feed') -%}{{ sql }}{%- endcall -%}
  {%- endfor -%}
{% endmacro %}
