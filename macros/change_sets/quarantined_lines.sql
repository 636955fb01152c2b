{# The lines that a staging model could not use, among the batches that this run takes, each with its place:
   file, and line number counted from 1. A batch that is taken again has a higher version. Spark reads a block's lines
   in their order, and only broken ones keep their text while all are counted. #}
{% macro quarantined_lines(events, source_table) -%}
  select
    '{{ source_table }}' as source_table,
    _batch as batch,
    _file as file,
    line_number,
    _reason as reason,
    raw_line,
    taken.taken_at as _version
  from (
    select *, row_number() over (partition by _file order by _block_start, line_id) as line_number
    from (
      select
        _batch,
        _file,
        _block_start,
        monotonically_increasing_id() as line_id,
        _reason,
        if(_reason is null, null, _raw_line) as raw_line
      from {{ events }}
      where {{ versioned_collapsing.is_to_take('_batch') }}
    )
  )
  inner join {{ versioned_collapsing.get_change_set_manifest_relation(this) }} as taken on taken.batch = _batch
  where _reason is not null
{%- endmacro %}
