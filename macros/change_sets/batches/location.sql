{# The batches of a location, in order, as read_landed_batches returns those of several: count of files, a hash of
   their names and sizes, another of their names and times, and when the last file was written, in microseconds since
   1970. Before the first batch has landed there are none, whether the folder exists or not. Raises an error for files
   that are in no batch; a second listing (`again`) does not look for them. If the adapter can, it lists a folder
   without Spark. #}
{% macro read_location(location, again=false) %}
  {%- set name = versioned_collapsing._get_plain_path(location).split('/')[-1] -%}
  {%- set listed = adapter.list_batches(location, name, again) if adapter.list_batches is defined else none -%}
  {%- if listed is none -%}
    {%- set found = versioned_collapsing.query_if_there(versioned_collapsing._get_location_sql(location, name)) -%}
    {%- set listed = found.rows if found is not none else [] -%}
  {%- endif -%}
  {%- set batches = {} -%}
  {%- set strays = [] -%}
  {%- for row in listed -%}
    {%- if row['batch'] is none -%}
      {%- do strays.append(row['example']) -%}
    {%- else -%}
      {%- do batches.update({row['batch'] | int: {
          'files': row['files'] | int, 'hash': row['hash'], 'landed_at': row['landed_at'] | int,
          'times': row['times'], 'locations': [location],
      }}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if not again -%}
    {%- do versioned_collapsing._validate_strays(location, name, strays) -%}
  {%- endif -%}
  {%- do return(batches) -%}
{% endmacro %}


{# The files of each batch; those in no batch by their folder, with an example. #}
{% macro _get_location_sql(location, name) -%}
  select
    batch,
    count(*) as files,
    md5(concat_ws(',', sort_array(collect_list(concat(tail, ':', length))))) as hash,
    md5(concat_ws(',', sort_array(collect_list(concat(tail, ':', unix_micros(modificationTime)))))) as times,
    max(unix_micros(modificationTime)) as landed_at,
    concat(
      {{ versioned_collapsing.quote_literal(name ~ '/') }},
      min(place),
      if(count(*) > 1, concat(' and ', count(*) - 1, ' more beside it'), '')
    ) as example
  from (
    select *, regexp_extract(path, '[^/]+/[^/]+/[^/]+$', 0) as tail
    from ({{ versioned_collapsing.get_listing_sql(location) }})
  )
  group by batch, if(batch is null, regexp_extract(place, '^.*/', 0), '')
  order by batch, example
{%- endmacro %}


{% macro _validate_strays(location, name, strays) %}
  {%- if strays -%}
    {%- set more = strays | length - 10 -%}
    {%- set shown = strays[:10] + (
        ['and files in ' ~ versioned_collapsing.format_count(more, 'more place')] if more > 0 else []
    ) -%}
    {%- do exceptions.raise_compiler_error(
        "The landing zone " ~ location ~ " has files that belong to no batch:\n  - " ~ shown | join('\n  - ')
        ~ "\nEach file must be directly in a folder batch=N, where N is a number from 0 to 9223372036854775807: "
        ~ name ~ "/batch=000001/part-00000.json. Move these files to such a folder, or remove them. Names that begin "
        ~ "with a dot, such as .batch=000001, are ignored."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The rows of a query on files, or none when their folder is not there and the adapter can tell. #}
{% macro query_if_there(sql) %}
  {%- do return(adapter.query_if_there(sql) if adapter.query_if_there is defined else run_query(sql)) -%}
{% endmacro %}
