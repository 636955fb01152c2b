{# The lines that cannot be used, with their number in the file. Spark reads a block's lines in their order. #}
{% macro get_numbered_lines_sql(lines) -%}
  {%- if lines.is_parsed -%}
  select _batch, _file, _reason, _raw_line, _line_id - first_id + lines_before + 1 as line_number
  from {{ lines.relation }}
  inner join (
    select
      _file,
      _block_start,
      min(_line_id) as first_id,
      coalesce(sum(count(*)) over (
        partition by _file order by _block_start rows between unbounded preceding and 1 preceding
      ), 0) as lines_before
    from {{ lines.relation }}
    group by _file, _block_start
  ) using (_file, _block_start)
  where _reason is not null
  {%- else -%}
  select _batch, _file, _reason, _raw_line, line_number
  from (
    select *, row_number() over (partition by _file order by _block_start, _line_id) as line_number
    from (
      select
        _batch,
        _file,
        _block_start,
        monotonically_increasing_id() as _line_id,
        _reason,
        if(_reason is null, null, _raw_line) as _raw_line
      from {{ lines.relation }}
      where {{ lines.is_taken }}
    )
  )
  where _reason is not null
  {%- endif -%}
{%- endmacro %}
