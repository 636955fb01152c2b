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

{# The change set of a quarantine: the lines that are broken now, and a delete for each quarantined line that is no
   longer broken, among the batches that were taken. So a batch that is taken again replaces its lines. #}
{% macro replace_quarantined_batches(quarantined) -%}
  {%- set existing = load_relation(this) if execute else none -%}
  select
    source_table, batch, file, line_number, reason, raw_line, _version, false as _is_deleted
  from {{ quarantined }}
  {%- if existing is not none %}
  union all
  select
    repaired.source_table, repaired.batch, repaired.file, repaired.line_number,
    repaired.reason, repaired.raw_line, taken.taken_at as _version, true as _is_deleted
  from (
    select source_table, batch, file, line_number, reason, raw_line
    from {{ existing }} final -- what is live: a repaired line is deleted once
    where _sign = 1
      and (source_table, batch, file, line_number) not in (
        select source_table, batch, file, line_number
        from {{ quarantined }}
      )
  ) as repaired
  inner join (
    select assumeNotNull(batch) as batch, taken_at
    from {{ versioned_collapsing.read_change_set_manifest(model).relation }}
    where batch is not null
  ) as taken on taken.batch = repaired.batch
  {%- endif %}
{%- endmacro %}
