{# One row per batch. If there is no batch, there is one row without a batch, so that the flags are always there. A
   count that is not known is null. `id` is the ID of this build, and `definition` the hash of what was built.
   `parsed_lines` names the tables in which the lines of these batches are parsed. `seen` says what the change set has
   had of each staging model: tables of the source, the highest position and the newest time. Other times are in
   microseconds since 1970. #}
{% macro get_create_manifest_sql(
    manifest, landed, taken, is_complete, counts, file_format, id, definition, parsed, seen='{}'
) -%}
  {%- set names = versioned_collapsing.get_line_count_names() -%}
  create table {{ manifest }} using {{ file_format }} as
  select
    cast(batch as bigint) as batch,
    cast(files as bigint) as files,
    cast(hash as string) as hash,
    cast(landed_at as bigint) as landed_at,
    unix_micros(current_timestamp()) as taken_at,
    {{ versioned_collapsing.quote_literal(id) }} as id,
    {{ versioned_collapsing.quote_literal(definition) }} as definition,
    {{ versioned_collapsing.quote_literal(parsed | map(attribute='identifier') | join(',')) }} as parsed_lines,
    {{ versioned_collapsing.quote_literal(seen) }} as seen,
    cast({{ is_complete }} as boolean) as is_complete,
    cast({{ versioned_collapsing.is_partial_run() }} as boolean) as is_partial,
    {%- for name in names %}
    cast({{ name }} as bigint) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from values
    {%- for batch in taken %}
    {%- set values = [batch, landed[batch].files, "'" ~ landed[batch].hash ~ "'", landed[batch].landed_at] %}
    {%- for name in names %}
    {%- set count = counts.get(batch, {}).get(name) %}
    {%- do values.append('null' if count is none else count) %}
    {%- endfor %}
    ({{ values | join(', ') }}){{ ',' if not loop.last }}
    {%- else %}
    (null, 0, null, null{{ ', 0' * names | length }})
    {%- endfor %}
  as manifest (batch, files, hash, landed_at, {{ names | join(', ') }})
{%- endmacro %}


{# The columns of a query without its rows. Spark sees that it need not read anything. #}
{% macro get_no_rows_sql(sql) -%}
  select * from ({{ sql }}) where false
{%- endmacro %}
