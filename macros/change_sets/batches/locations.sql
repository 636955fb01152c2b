{# The folders in which batches land: the locations of all sources from which a model descends. #}
{% macro get_landing_locations(model) %}
  {%- set locations = versioned_collapsing.get_file_sources(model) | map(attribute='location') | list -%}
  {%- do versioned_collapsing._validate_locations(model, locations) -%}
  {%- do return(locations) -%}
{% endmacro %}


{% macro _validate_locations(model, locations) %}
  {%- if not locations -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " is a change_set, but none of its sources has a location. Set `external: {location: ..., "
        ~ "file_format: text}` on the source. The location must have a folder batch=N for each batch."
    ) -%}
  {%- endif -%}
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
