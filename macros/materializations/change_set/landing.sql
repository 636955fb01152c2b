{# The batches of all locations of a change set, in order. A batch that is in several locations is one batch. `again`:
   whether to list the files anew, and not to use what this run has already listed. #}
{% macro read_landed_batches(model, again=false) %}
  {%- set by_location = [] -%}
  {%- for location in versioned_collapsing.get_landing_locations(model) -%}
    {%- do by_location.append(versioned_collapsing.read_location(location, again)) -%}
  {%- endfor -%}
  {%- if by_location | length == 1 -%}{%- do return(by_location[0]) -%}{%- endif -%}
  {%- set by_batch = {} -%}
  {%- for batches in by_location -%}
    {%- for batch, found in batches.items() -%}
      {%- do by_batch.setdefault(batch, []).append(found) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- set landed = {} -%}
  {%- for batch in by_batch | sort -%}
    {%- set hashes = by_batch[batch] | map(attribute='hash') | list -%}
    {%- do landed.update({batch: {
        'files': by_batch[batch] | sum(attribute='files'),
        'landed_at': by_batch[batch] | map(attribute='landed_at') | max,
        'times': by_batch[batch] | map(attribute='times') | join(','),
        'locations': by_batch[batch] | sum(attribute='locations', start=[]),
        'hash': hashes[0] if hashes | length == 1 else local_md5(hashes | join(',')),
    }}) -%}
  {%- endfor -%}
  {%- do return(landed) -%}
{% endmacro %}

{# The folders in which batches land: the locations of all sources from which a model descends. #}
{% macro get_landing_locations(model) %}
  {%- set locations = versioned_collapsing.get_file_sources(model) | map(attribute='location') | list -%}
  {%- do versioned_collapsing._validate_locations(model, locations) -%}
  {%- do return(locations) -%}
{% endmacro %}

{# The location and format of each source of files from which a model descends, each once. A relative location is
   relative to the project's folder, which only the adapter spark_clickhouse knows. #}
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

{% macro _validate_locations(model, locations) %}
  {%- if not locations -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " is a change_set, but none of its sources has a location. Set `external: {location: ..., "
        ~ "file_format: text}` on the source. The location must have a folder batch=N for each batch."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The batches of a location, in order, in the form of read_landed_batches: count of files, a hash of their names and
   sizes, another of their names and times, and when the last file was written, in microseconds since 1970. Before the
   first batch has landed there are none, whether the folder exists or not. Raises an error for files outside any batch;
   a second listing (`again`) does not check that. If the adapter can, it lists a folder without Spark. #}
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

{# A location without scheme, outer slashes, `.` and `..`, as it occurs within the paths of its files. #}
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

{# The rows of a query on files; none if their folder does not exist and the adapter can tell. #}
{% macro query_if_there(sql) %}
  {%- do return(adapter.query_if_there(sql) if adapter.query_if_there is defined else run_query(sql)) -%}
{% endmacro %}

{# The files of each batch. Files outside any batch are grouped by folder, with an example. #}
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

{# The files below a location, each with its path there and its batch, null for a file in no batch. Only numbers are
   read from the names of folders. Spark's own discovery of partitions takes some names for dates and fails on others.
   Spark passes over names that begin with `.` or `_`, and over empty files. #}
{% macro get_listing_sql(location) -%}
  {%- set root = versioned_collapsing.quote_literal('/' ~ versioned_collapsing._get_plain_path(location) ~ '/') -%}
  select
    path,
    length,
    modificationTime,
    place,
    try_cast(regexp_extract(place, '^batch=([0-9]+)/[^/]+$', 1) as bigint) as batch
  from (
    select
      path,
      length,
      modificationTime,
      if(
        locate({{ root }}, path) > 0,
        substring(path, locate({{ root }}, path) + length({{ root }})),
        regexp_extract(path, '[^/]+/[^/]+$', 0)
      ) as place
    from binaryFile.`{{ location | replace('`', '``') }}` with ('recursiveFileLookup' = 'true')
  )
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

{# Batches in a message: consecutive numbers are shown as a range, and at most ten ranges are shown. #}
{% macro get_batches_text(batches) %}
  {%- set ranges = [] -%}
  {%- for batch in batches -%}
    {%- if ranges and ranges[-1][1] + 1 == batch -%}
      {%- do ranges.append([ranges.pop()[0], batch]) -%}
    {%- else -%}
      {%- do ranges.append([batch, batch]) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set texts = [] -%}
  {%- for first, last in ranges[:10] -%}
    {%- do texts.append(first if first == last else first ~ ' to ' ~ last) -%}
  {%- endfor -%}
  {%- set noun = 'batch ' if batches | length == 1 else 'batches ' -%}
  {%- do return(noun ~ texts | join(', ') ~ (' and more' if ranges | length > 10 else '')) -%}
{% endmacro %}

{# The line that dbt prints for the model. #}
{% macro get_pending_summary(model, landed, pending, counts) %}
  {%- set places = versioned_collapsing.get_file_sources(model) | map(attribute='location') | join(', ') -%}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- do return(
      (('no batches yet' ~ (' in ' ~ places if places else '')) if not landed
      else 'no new batches' if not pending
      else 'batch ' ~ pending[0] if pending | length == 1
      else pending | length ~ ' batches, ' ~ pending[0] ~ ' to ' ~ pending[-1])
      ~ (': ' ~ unusable ~ (' unusable line' if unusable == 1 else ' unusable lines') if unusable else '')
  ) -%}
{% endmacro %}

{# What run_results.json keeps about a change set: its batches, and the counts of all their lines if these are known. #}
{% macro get_pending_facts(pending, counts) %}
  {%- set facts = {'batches': pending} -%}
  {%- for name in versioned_collapsing.get_line_count_names() -%}
    {%- set counted = counts.values() | map(attribute=name) | list -%}
    {%- if none not in counted and counted | length == pending | length -%}
      {%- do facts.update({name: counted | map('int') | sum}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(facts) -%}
{% endmacro %}
