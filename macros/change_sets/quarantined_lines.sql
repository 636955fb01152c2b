{# The lines that a staging model could not use, among the batches that this run takes, each with its place: file, and
   line number counted from 1. A batch that is taken again has a higher version. `change_set` is a model that parses the
   same lines: what it has parsed is not parsed again. #}
{% macro quarantined_lines(events, source_table, change_set=none) -%}
  {%- set columns = versioned_collapsing.read_column_types(events) if change_set else {} -%}
  {%- set lines = versioned_collapsing.read_where_lines_are(events, columns) -%}
  select
    '{{ source_table }}' as source_table,
    _batch as batch,
    _file as file,
    line_number,
    _reason as reason,
    _raw_line as raw_line,
    taken.taken_at as _version
  from (
    {{ versioned_collapsing.get_numbered_lines_sql(lines) }}
  )
  inner join {{ versioned_collapsing.get_change_set_manifest_relation(this) }} as taken on taken.batch = _batch
{%- endmacro %}
