{# The usable events of the batches that this run takes, one row for each version of a key. The rows are distributed by
   key alone. So a later grouping by key finds them in the right place and in the right order. `rows` is where the
   events come from, and `kept` are the columns to keep besides the key.

   Some tools send an update as a delete and an insert at one version. So if rows replace each other, the last line
   decides whether the row is deleted, and `_is_replaced` says that a delete lies before an upsert. Debezium's positions
   tell a delete from an insert; where its version is a column, a delete has the version of the row that it deletes, and
   wins. #}
{% macro get_versions_sql(rows, key, kept, types) -%}
  {%- set has_order = versioned_collapsing.has_line_order(types) -%}
  {%- set change = 'struct(' ~ (['_is_deleted'] + kept) | join(', ') ~ ')' -%}
  {%- set is_replaced = 'max(if(_is_deleted, _place, null)) < max(if(_is_deleted, null, _place))' -%}
  select
    {{ key | join(', ') }},
    _version,
    {%- if has_order %}
    if(
      coalesce({{ is_replaced }}, false),
      max({{ change }}) filter (where not _is_deleted),
      max({{ change }})
    ) as _change,
    coalesce({{ is_replaced }}, false) as _is_replaced,
    {%- else %}
    max({{ change }}) as _change,
    {%- endif %}
    count(*) - 1 as _repeats,
    coalesce(min(_digest) <> max(_digest), false) as _is_conflict
    {%- if '_key_before' in types %},
    count_if(_is_left) as _lefts
    {%- endif %}
  from (
    select
      {{ (key + kept) | join(', ') }},
      {%- if '_key_before' in types %}
      _is_left,
      {%- endif %}
      {%- if has_order %}
      struct(_batch, _file, _block_start, {{ versioned_collapsing._get_line_place_sql(types) }} as line) as _place,
      {%- endif %}
      _version,
      _is_deleted,
      if(_is_deleted, null, {{ versioned_collapsing.get_digest_sql(kept, types) }}) as _digest
    from {{ rows }}
    distribute by {{ key | join(', ') }}
  )
  group by {{ key | join(', ') }}, _version
{%- endmacro %}


{# Whether the place of a line decides at one version. Only Debezium's lines can be truncates. #}
{% macro has_line_order(types) %}
  {%- do return('_is_truncate' not in types and '_file' in types and '_block_start' in types) -%}
{% endmacro %}


{# The place of a line in its block. Spark reads the lines of a block in their order. #}
{% macro _get_line_place_sql(types) %}
  {%- do return('_line_id' if '_line_id' in types else 'monotonically_increasing_id()') -%}
{% endmacro %}
