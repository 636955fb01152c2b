{# The folders in which batches land: the locations of all sources from which a model descends. #}
{% macro get_landing_locations(model) %}
  {%- set locations = versioned_collapsing.get_file_sources(model) | map(attribute='location') | list -%}
  {%- if not locations -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " is a change_set, and none of the sources that it descends from has a location. Give the source "
        ~ "`external: {location: ..., file_format: text}`, with a folder batch=N for each batch below it."
    ) -%}
  {%- endif -%}
  {%- do return(locations) -%}
{% endmacro %}


{# The location and format of each source of files from which a model descends, each once. A relative location is so to the project, and the adapter
   spark_clickhouse knows where that is. #}
{% macro get_file_sources(model) %}
  {%- set found = [] -%}
  {%- for unique_id in model.depends_on.nodes -%}
    {%- if unique_id in graph.sources -%}
      {%- set node = graph.sources[unique_id] -%}
      {%- if node.external and node.external.location -%}
        {%- set location = source(node.source_name, node.name).location or node.external.location -%}
        {%- do found.append({'location': location | string, 'file_format': node.external.file_format or 'text'}) -%}
      {%- endif -%}
    {%- elif unique_id in graph.nodes -%}
      {%- do found.extend(versioned_collapsing.get_file_sources(graph.nodes[unique_id])) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found | unique(attribute='location') | list) -%}
{% endmacro %}


{# The files below a location, each with its path there and its batch, null for a file in no batch. Nothing is made of
   folders' names but numbers: Spark's own discovery of partitions takes some for dates and fails on others. It passes
   over what begins with `.` or `_`, and over files without a byte. #}
{% macro get_listing_sql(location) -%}
  {%- set root = versioned_collapsing.quote_literal('/' ~ versioned_collapsing._get_plain_path(location) ~ '/') -%}
  select
    path,
    length,
    place,
    try_cast(regexp_extract(place, '^batch=([0-9]+)/[^/]+$', 1) as bigint) as batch
  from (
    select
      path,
      length,
      if(locate({{ root }}, path) > 0, substring(path, locate({{ root }}, path) + length({{ root }})), regexp_extract(path, '[^/]+/[^/]+$', 0)) as place
    from binaryFile.`{{ location | replace('`', '``') }}` with ('recursiveFileLookup' = 'true')
  )
{%- endmacro %}


{# A path without scheme, outer slashes and detours, as it is within the path of a file. #}
{% macro _get_plain_path(location) %}
  {%- set folders = [] -%}
  {%- for folder in modules.re.sub('^[A-Za-z][A-Za-z0-9+.-]*:', '', location).split('/') if folder not in ('', '.') -%}
    {%- if folder != '..' -%}
      {%- do folders.append(folder) -%}
    {%- elif folders -%}
      {%- do folders.pop() -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(folders | join('/')) -%}
{% endmacro %}


{# The batches of a location: number, count of files and a hash of their names and sizes. None before the first one
   has landed, folder or not. Raises an error for files that are in no batch. #}
{% macro read_location(location) %}
  {%- set name = versioned_collapsing._get_plain_path(location).split('/')[-1] -%}
  {%- set query -%}
    select
      batch,
      count(*) as files,
      md5(concat_ws(',', sort_array(collect_list(concat(regexp_extract(path, '[^/]+/[^/]+/[^/]+$', 0), ':', length))))) as hash,
      concat({{ versioned_collapsing.quote_literal(name ~ '/') }}, min(place), if(count(*) > 1, concat(' and ', count(*) - 1, ' more beside it'), '')) as example
    from ({{ versioned_collapsing.get_listing_sql(location) }})
    group by batch, if(batch is null, regexp_extract(place, '^.*/', 0), '')
    order by batch, example
  {%- endset -%}
  {%- set found = versioned_collapsing.query_if_there(query) -%}
  {%- set batches = {} -%}
  {%- set strays = [] -%}
  {%- for row in (found.rows if found is not none else []) -%}
    {%- if row['batch'] is none -%}
      {%- do strays.append(row['example']) -%}
    {%- else -%}
      {%- do batches.update({row['batch'] | int: {'files': row['files'] | int, 'hash': row['hash']}}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing._raise_strays(location, name, strays) -%}
  {%- do return(batches) -%}
{% endmacro %}


{% macro _raise_strays(location, name, strays) %}
  {%- if strays -%}
    {%- set shown = strays[:10] + (['and files in ' ~ (strays | length - 10) ~ ' more places'] if strays | length > 10 else []) -%}
    {%- do exceptions.raise_compiler_error(
        "The landing zone " ~ location ~ " has files that are in no batch:\n  - " ~ shown | join('\n  - ')
        ~ "\nEach file has to be in a folder batch=N and in no folder below it, N being a number from 0 to 9223372036854775807: "
        ~ name ~ "/batch=000001/part-00000.json. Move these there, or take them away. A name that begins with a dot, as .batch=000001, "
        ~ "is passed over."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The rows of a query on files, or none when their folder is not there and the adapter can tell. #}
{% macro query_if_there(sql) %}
  {%- do return(adapter.query_if_there(sql) if adapter.query_if_there is defined else run_query(sql)) -%}
{% endmacro %}


{# The batches of all locations of a change set, in order. A batch that is in several is one. #}
{% macro read_landed_batches(model) %}
  {%- set by_batch = {} -%}
  {%- for location in versioned_collapsing.get_landing_locations(model) -%}
    {%- for batch, found in versioned_collapsing.read_location(location).items() -%}
      {%- do by_batch.setdefault(batch, []).append(dict(found, location=location)) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- set landed = {} -%}
  {%- for batch in by_batch | sort -%}
    {%- set hashes = by_batch[batch] | map(attribute='hash') | list -%}
    {%- do landed.update({batch: {
        'files': by_batch[batch] | sum(attribute='files'),
        'locations': by_batch[batch] | map(attribute='location') | list,
        'hash': hashes[0] if hashes | length == 1 else local_md5(hashes | join(',')),
    }}) -%}
  {%- endfor -%}
  {%- do return(landed) -%}
{% endmacro %}


{# The query for the files of a change set's landing zone, each with its batch. #}
{% macro get_landed_files_sql(model) %}
  {%- set listings = [] -%}
  {%- for location in versioned_collapsing.get_landing_locations(model) -%}
    {%- if not versioned_collapsing.is_building() or versioned_collapsing.read_location(location) -%}
      {%- do listings.append('select batch, path, length from (' ~ versioned_collapsing.get_listing_sql(location) ~ ')') -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(listings | join(' union all ') or "select cast(null as bigint) as batch, '' as path, 0L as length where false") -%}
{% endmacro %}


{# Whether dbt builds models, and does not only compile them, for which no engine has to be there. #}
{% macro is_building() %}
  {%- do return(execute and flags.WHICH in ('run', 'build', 'retry')) -%}
{% endmacro %}
