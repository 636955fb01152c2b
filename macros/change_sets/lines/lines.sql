{# Every line of a source, with its file, and with the start of the block of the file that Spark reads at once. Lines
   get no numbers here, because Spark does not filter rows before it numbers them, and would read every batch. Before
   the first batch has landed, there is no column `batch`, and perhaps no folder. Then the view has no rows and says so,
   and must be made again.

   A row of Parquet becomes a line of JSON without its nulls, so that a column that a file lacks is as one that is null.
   The columns are those of all files. Spark otherwise takes them from one file, and leaves out those of the others. #}
{% macro get_lines_sql(source, has_landed) -%}
  {%- if not has_landed -%}
  select
    cast(null as string) as _raw_line,
    cast(null as bigint) as _batch,
    cast(null as string) as _file,
    cast(null as bigint) as _block_start
  from values ({{ versioned_collapsing.get_empty_landing_mark(source.location) }}) as nothing (note)
  where false
  {%- else -%}
  {%- set is_parquet = versioned_collapsing.is_parquet(source) -%}
  select
    {{ versioned_collapsing._get_parquet_line_sql() if is_parquet else 'value' }} as _raw_line,
    cast(batch as bigint) as _batch,
    {{ versioned_collapsing._get_file_sql() }} as _file,
    _metadata.file_block_start as _block_start
  from {{ source }}{{ " with ('mergeSchema' = 'true')" if is_parquet }}
  {%- endif -%}
{%- endmacro %}


{% macro is_parquet(source) %}
  {%- do return(source.file_format == 'parquet') -%}
{% endmacro %}


{% macro _get_parquet_line_sql() -%}
  to_json(struct(* except (batch)), map(
    'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'
  ))
{%- endmacro %}


{# The place of a file: its last two folders and its name. Spark has them URL-encoded. #}
{% macro _get_file_sql() -%}
  {%- set file = "substring_index(_metadata.file_path, '/', -3)" -%}
  if(contains(_metadata.file_path, '%'), url_decode(replace({{ file }}, '+', '%2B')), {{ file }})
{%- endmacro %}
