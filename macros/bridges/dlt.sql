{# The change set in a table that dlt appends to. `loads` is dlt's table `_dlt_loads`. A load gets a row there when all
   its rows have landed. That row is also the watermark, so that no run misses a load that took long or was resumed
   later. #}
{% macro dlt_changes(
    landing, loads, version=none, deleted_at='deleted_ts', overlap='1 hour', through=none
) -%}
  {%- if not execute -%}{%- do return(versioned_collapsing.get_unread_landing_sql()) -%}{%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- set load = versioned_collapsing.get_landed_column(found, ['_dlt_load_id']) -%}
  {%- do versioned_collapsing.validate_dlt_version(found, version) -%}
  {%- set position = versioned_collapsing.get_landed_column(found, [version | lower]) -%}
  {%- do versioned_collapsing.validate_landed_column(found, load, 'the load of a row', ['_dlt_load_id'], none) -%}
  {%- do versioned_collapsing.validate_landed_column(found, position, 'the version', [version], 'version') -%}
  {#- dlt adds this column with the first delete. -#}
  {%- set mark = versioned_collapsing.get_landed_column(found, [deleted_at | lower]) -%}
  {%- set rows -%}
    (
      select {{ found.all_columns }}, _dbt_completed_at
      from {{ landing }}
      inner join (
        select load_id as _dlt_load_id, min(inserted_at) as _dbt_completed_at from {{ loads }} group by load_id
      ) as _dbt_loads using (_dlt_load_id)
    )
  {%- endset -%}
  {{ versioned_collapsing.get_landed_changes_sql(found, {
      'payload': versioned_collapsing.get_landed_payload(
          found, ['_dlt_load_id', '_dlt_id', version | lower, deleted_at | lower]
      ),
      'version': position,
      'is_deleted': 'isNotNull(' ~ mark ~ ')' if mark else 'false',
      'watermark': '_dbt_completed_at',
      'condition': versioned_collapsing.read_range(found, '_dbt_completed_at', overlap, through, rows),
      'rows': rows,
      'columns': '*',
      'control': {},
  }) }}
{%- endmacro %}

{# In `pg_replication`, `lsn` is the `data_start` of a row's message, and no column has the LSN of the commit. #}
{% macro validate_dlt_version(found, version) %}
  {%- if version is none -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        found.relation ~ " does not say in which order its source committed. lsn is where a row stands in the log: "
        ~ "where two transactions change a key at once, the one that commits first may win. If none do, pass "
        ~ "version='lsn'; else pass a column of the source that grows with every change of a row."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}
