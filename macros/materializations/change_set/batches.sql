{# The files of the landing zone, which is every source with a location from which the model descends. #}
{% macro get_landed_files_sql(model) %}
  {%- set listings = [] -%}
  {%- for location in versioned_collapsing._landing_locations(model.depends_on.nodes) | unique -%}
    {%- do listings.append("select batch, path, length from binaryFile.`" ~ location ~ "`") -%}
  {%- endfor -%}
  {%- if not listings -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " is a change_set, and none of the sources that it descends from has a location. Give the source "
        ~ "`external: {location: ..., file_format: text}`, with a folder batch=N for each batch below it."
    ) -%}
  {%- endif -%}
  {%- do return(listings | join(' union all ')) -%}
{% endmacro %}


{# The batches of the landing zone: number, count of files and a hash of their names and sizes. #}
{% macro read_landed_batches(model) %}
  {%- set query -%}
    select
      batch,
      count(*) as files,
      md5(concat_ws(',', sort_array(collect_list(concat(regexp_extract(path, '[^/]+/[^/]+/[^/]+$', 0), ':', length))))) as hash
    from ({{ versioned_collapsing.get_landed_files_sql(model) }})
    group by batch
    order by batch
  {%- endset -%}
  {%- set landed = {} -%}
  {%- for row in run_query(query).rows -%}
    {%- do landed.update({row['batch'] | int: {'files': row['files'] | int, 'hash': row['hash']}}) -%}
  {%- endfor -%}
  {%- do return(landed) -%}
{% endmacro %}


{% macro _landing_locations(unique_ids) %}
  {%- set locations = [] -%}
  {%- for unique_id in unique_ids -%}
    {%- if unique_id in graph.sources -%}
      {%- set external = graph.sources[unique_id].external -%}
      {%- if external and external.location -%}
        {%- do locations.append(external.location) -%}
      {%- endif -%}
    {%- elif unique_id in graph.nodes -%}
      {%- do locations.extend(versioned_collapsing._landing_locations(graph.nodes[unique_id].depends_on.nodes)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(locations) -%}
{% endmacro %}


{# Batches that a target has not applied, that have changed since, or that are to be taken again; never more
   than a maximum applied: a batch may land late. #}
{% macro get_batches_to_take(landed, applied, changed) %}
  {%- set again = changed + versioned_collapsing.get_batches_to_retake() -%}
  {%- set taken = [] -%}
  {%- for batch in versioned_collapsing._up_to_through_batch(landed) if batch not in applied or batch in again -%}
    {%- do taken.append(batch) -%}
  {%- endfor -%}
  {%- do return(taken) -%}
{% endmacro %}


{# The batches that the variable `retake_batches` names: a number, or a list of them. #}
{% macro get_batches_to_retake() %}
  {%- do return(versioned_collapsing._as_list(var('retake_batches', none)) | map('int') | list) -%}
{% endmacro %}


{# Applied batches whose files are not those that were applied. #}
{% macro get_changed_batches(landed, applied) %}
  {%- set changed = [] -%}
  {%- for batch, hash in applied.items() if batch in landed and landed[batch].hash != hash -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- do return(changed | sort) -%}
{% endmacro %}


{% macro _up_to_through_batch(landed) %}
  {%- set through = var('through_batch', none) -%}
  {%- do return(landed | list if through is none else landed | select('le', through | int) | list) -%}
{% endmacro %}


{# An applied batch is not read again, so that what changes in it afterwards would be lost without a word. With
   `on_changed_batch: retake` it is taken again by itself. #}
{% macro validate_changed_batches(model, changed, on_changed_batch) %}
  {%- if on_changed_batch not in ('error', 'retake') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": on_changed_batch is '" ~ on_changed_batch ~ "'; it takes 'error' or 'retake'."
    ) -%}
  {%- endif -%}
  {%- set unexpected = changed | reject('in', versioned_collapsing.get_batches_to_retake()) | list -%}
  {%- if unexpected and on_changed_batch == 'error' -%}
    {%- do exceptions.raise_compiler_error(
        "Files in batches that are applied have changed since: " ~ unexpected | join(', ') ~ ". To take them again (what is "
        ~ "applied already does no harm): dbt run --select " ~ model.name ~ "+ --vars '{retake_batches: " ~ unexpected ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}
