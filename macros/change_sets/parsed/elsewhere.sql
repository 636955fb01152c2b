{# The table in which another change set, to which a model refers, has parsed the lines of an input. None unless it has
   all batches that the model takes, as they are in the landing zone. #}
{% macro read_parsed_elsewhere(model, input, taken) %}
  {%- for node in graph.nodes.values()
      if node.unique_id in model.depends_on.nodes and node.config.materialized == 'change_set'
      and input.unique_id in node.depends_on.nodes -%}
    {%- set change_set = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- if change_set is not none -%}
      {%- set parsed = versioned_collapsing.get_parsed_lines_relation(change_set, input.relation) -%}
      {%- if versioned_collapsing._read_has_lines(node, change_set, parsed, taken) -%}
        {%- do return(parsed) -%}
      {%- endif -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


{% macro _read_has_lines(node, change_set, parsed, taken) %}
  {%- set manifest = versioned_collapsing.get_change_set_manifest_relation(change_set) -%}
  {%- if adapter.get_relation(manifest.database, manifest.schema, manifest.identifier) is none -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set hashes = {} -%}
  {%- for row in run_query('select * from ' ~ manifest).rows
      if parsed.identifier in (row.get('parsed_lines') or '').split(',') and row['batch'] is not none -%}
    {%- do hashes.update({row['batch'] | int: row['hash']}) -%}
  {%- endfor -%}
  {%- for batch, found in versioned_collapsing.read_landed_batches(node).items()
      if batch in taken and hashes.get(batch) != found.hash -%}
    {%- do return(false) -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}
