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
