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
