{# The query of a change set of a lake table. While dbt parses, and before the table exists, a placeholder stands in for
   it. #}
{% macro read_lake_changes_sql(table, key, version, macro_name) -%}
  {%- set types = versioned_collapsing.read_column_types(table) -%}
  {%- do versioned_collapsing.validate_lake_changes(model, table, key, version, types, macro_name) -%}
  {%- if not types -%}
    {%- do return('select 1 as unread') -%}
  {%- endif -%}
  {%- set feed = versioned_collapsing.get_lake_feed_name(this) -%}
  {%- set payload = versioned_collapsing.get_payload(types, key) -%}
  {%- if version -%}
    {{ versioned_collapsing.get_lake_signed_rows_sql(feed, key, payload, version) }}
  {%- else -%}
    {{ versioned_collapsing.get_lake_latest_changes_sql(feed, key, payload) }}
  {%- endif -%}
{%- endmacro %}


{# For each key, the row after the last commit that changed it, or its delete. A snapshot of the whole table begins with
   a truncate just below its version, so that rows of an earlier state of the table do not stay. #}
{% macro get_lake_latest_changes_sql(feed, key, payload) -%}
  select
    {{ key | join(', ') }},
    {%- for name in payload %}
    _row_after.{{ name }} as {{ name }},
    {%- endfor %}
    case
      when _is_truncate then _last._batch - 1
      when _is_connected then _last._batch
      else {{ versioned_collapsing._get_raise_not_unique_sql(key) }}
    end as _version,
    not _last._is_after as _is_deleted,
    _is_truncate
  from (
    {{ versioned_collapsing._get_lake_ends_sql(feed, key, key + payload) }}
  )
{%- endmacro %}


{# For each key, a cancel row of the row before the first commit that changed it, and a state row of the row after the
   last one. #}
{% macro get_lake_signed_rows_sql(feed, key, payload, version) -%}
  select
    {%- for name in key + payload %}
    image.{{ name }} as {{ name }},
    {%- endfor %}
    image.{{ version }} as _version,
    _sign
  from (
    {{ versioned_collapsing._get_lake_ends_sql(feed, key, key + payload) }}
  )
  lateral view inline(case
    when not _is_connected then {{ versioned_collapsing._get_raise_not_unique_sql(key) }}
    when _row_after.{{ version }} <= _row_before.{{ version }} and not _row_before <=> _row_after
      then raise_error(concat(
      'The row of the key ', to_json(struct({{ key | join(', ') }})), ' changes and its {{ version }} does not grow: ',
      _row_before.{{ version }}, ' before, ', _row_after.{{ version }}, ' after. Signed rows need a version that grows '
      'with every change. Choose such a column, or leave `version` out and use old_state lookup.'
    ))
    else array(
      struct(_row_before as image, cast(-1 as tinyint) as _sign),
      struct(_row_after as image, cast(1 as tinyint) as _sign)
    )
  end) as image, _sign
  where image is not null
    and not _is_truncate
    and not _row_before <=> _row_after
{%- endmacro %}


{# For each key, the row before and the row after the commits of a feed, null if there was none. Within one commit, the
   row before comes first. `_is_connected`: whether each row before is the one that an earlier commit left. Then the key
   never has more than one row. #}
{% macro _get_lake_ends_sql(feed, key, columns) -%}
  {%- set row = 'struct(' ~ columns | join(', ') ~ ')' -%}
  {%- set place = 'struct(_batch, _is_after)' -%}
  select
    {{ key | join(', ') }},
    _is_truncate,
    min_by(if(_is_after, null, {{ row }}), {{ place }}) as _row_before,
    max_by(if(_is_after, {{ row }}, null), {{ place }}) as _row_after,
    max({{ place }}) as _last,
    sum(if(_is_after, 1, -1)) = int(max({{ place }})._is_after) - int(not min({{ place }})._is_after) as _is_connected
  from {{ feed }}
  group by {{ key | join(', ') }}, _is_truncate
{%- endmacro %}


{% macro _get_raise_not_unique_sql(key) -%}
  raise_error(concat(
        'The lake table has more than one row of the key ', to_json(struct({{ key | join(', ') }})), '. A change feed '
        'needs a key that is unique in the lake table: correct `key`, or remove the duplicates and run again.'
      ))
{%- endmacro %}
