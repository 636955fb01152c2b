{# A table does not say how it was built, so it is compared with the files. A table that keeps every line must have as
   many lines as the files. Any other table must have at least some. #}
{% macro validate_whole_tables(model, inputs, taken) %}
  {%- set problems = [] -%}
  {%- for input in inputs if not input.is_view -%}
    {%- set landed = versioned_collapsing._count_landed_lines(input.sources, taken) -%}
    {%- if '_raw_line' in input.columns -%}
      {%- for batch in taken if input.lines[batch] != landed.get(batch, 0) -%}
        {%- do problems.append(
            input.relation ~ ' has ' ~ input.lines[batch] ~ ' of the ' ~ landed.get(batch, 0)
            ~ ' lines of batch ' ~ batch
        ) -%}
      {%- endfor -%}
    {%- elif landed.values() | sum and not input.lines.values() | sum -%}
      {%- do problems.append(input.relation ~ ' has no rows of ' ~ versioned_collapsing.get_batches_text(taken)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_whole_inputs(model, problems[:10]) -%}
{% endmacro %}


{% macro _count_landed_lines(sources, taken) %}
  {%- set counts = {} -%}
  {%- for source in sources if versioned_collapsing.read_location(source.location) -%}
    {%- set query -%}
      select cast(batch as bigint) as batch, count(*) as lines
      from {{ source.file_format }}.`{{ source.location | replace('`', '``') }}`
      where cast(batch as bigint) in ({{ taken | join(', ') }})
      group by batch
    {%- endset -%}
    {%- for row in run_query(query).rows -%}
      {%- do counts.update({row['batch'] | int: counts.get(row['batch'] | int, 0) + row['lines'] | int}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}
