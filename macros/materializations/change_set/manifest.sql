{# The manifest is in the warehouse, and the change set has to be beside it. #}
{% macro validate_location(model) %}
  {%- if model.config.get('location_root') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": a change_set takes no location_root. Leave it out; the profile's `warehouse` says where tables are, also in S3."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The options of a change set, and those of dbt-spark for the files of a table. #}
{% macro get_change_set_option_names() %}
  {%- do return([
      'on_changed_batch', 'compares_extracts', 'file_format', 'location_root', 'partition_by', 'clustered_by', 'buckets', 'options', 'tblproperties',
  ]) -%}
{% endmacro %}


{# One row a batch; without batches one row without a batch, so that the flags are there in any case. What is not
   counted is null. #}
{% macro get_create_manifest_sql(manifest, landed, taken, is_complete, counts, file_format) -%}
  {%- set names = versioned_collapsing.get_line_count_names() -%}
  create table {{ manifest }} using {{ file_format }} as
  select
    cast(batch as bigint) as batch,
    cast(files as bigint) as files,
    cast(hash as string) as hash,
    unix_micros(current_timestamp()) as taken_at,
    cast({{ is_complete }} as boolean) as is_complete,
    cast({{ versioned_collapsing.is_partial_run() }} as boolean) as is_partial,
    {%- for name in names %}
    cast({{ name }} as bigint) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from values
    {%- for batch in taken %}
    {%- set values = [batch, landed[batch].files, "'" ~ landed[batch].hash ~ "'"] %}
    {%- for name in names %}
    {%- set count = counts.get(batch, {}).get(name) %}
    {%- do values.append('null' if count is none else count) %}
    {%- endfor %}
    ({{ values | join(', ') }}){{ ',' if not loop.last }}
    {%- else %}
    (null, 0, null{{ ', 0' * names | length }})
    {%- endfor %}
  as manifest (batch, files, hash, {{ names | join(', ') }})
{%- endmacro %}


{# For a change set's SQL: whether a batch is among those that this run takes. The materialization fills the
   manifest before it runs the SQL. It is no join but a value, so that Spark reads only the folders of these batches,
   and rows stay in the order in which they are read. In a unit test, which has no `this`, all are. #}
{% macro is_to_take(batch) %}
  {%- if this is none -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- do return(
      'array_contains((select collect_list(batch) from ' ~ versioned_collapsing.get_change_set_manifest_relation(this)
      ~ ' where batch is not null), ' ~ batch ~ ')'
  ) -%}
{% endmacro %}


{# The line that dbt prints for the model. #}
{% macro get_taken_summary(landed, taken, counts) %}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- do return(
      ('no batches yet' if not landed
      else 'no new batches' if not taken
      else 'batch ' ~ taken[0] if taken | length == 1
      else taken | length ~ ' batches, ' ~ taken[0] ~ ' to ' ~ taken[-1])
      ~ (': ' ~ unusable ~ (' unusable line' if unusable == 1 else ' unusable lines') if unusable else '')
  ) -%}
{% endmacro %}


{# The columns of a query and none of its rows; Spark sees that nothing is to be read. #}
{% macro get_no_rows_sql(sql) -%}
  select * from ({{ sql }}) where false
{%- endmacro %}
