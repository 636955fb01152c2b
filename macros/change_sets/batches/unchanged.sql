{# Whether a change set can stay as it is if no batch is taken. It must have the same definition as before. It must also
   be empty, and as complete as it would be now; or all its targets have applied it, and nothing else reads it. Then
   Spark is not needed. #}
{% macro read_is_unchanged(model, manifest, applied_change_sets, definition, is_complete) %}
  {%- set file_format = model.config.file_format or 'parquet' -%}
  {%- if adapter.has_receipt is not defined
      or not adapter.has_receipt(manifest.schema, manifest.identifier, file_format)
      or not adapter.has_receipt(manifest.schema, model.alias, file_format) -%}
    {%- do return(false) -%}
  {%- endif -%}
  {#- What is read is the same in all rows, and a row without a batch is the only row. -#}
  {%- set rows = adapter.query_on(
      'clickhouse',
      'select * from ' ~ adapter.hand_off(manifest.schema, manifest.identifier, file_format)
      ~ ' limit 1 ' ~ versioned_collapsing.get_settings_sql()
  ).rows -%}
  {%- if not definition or not rows or rows[0].get('definition', '') != definition or rows[0]['is_partial'] -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set is_empty = rows[0]['batch'] is none -%}
  {%- do return(
      is_empty and rows[0]['is_complete'] | string | lower in (['true', '1'] if is_complete else ['false', '0'])
      or not is_empty and applied_change_sets == [rows[0]['id']] and not versioned_collapsing._get_other_readers(model)
  ) -%}
{% endmacro %}


{# A hash of what decides which table is built: the SQL of a model and of the views that it reads, and the config. Empty
   if the SQL of a view is not known. #}
{% macro get_change_set_definition(model, sql) %}
  {%- set views = versioned_collapsing._get_definitions_of_views(model) -%}
  {%- if '' in views -%}{%- do return('') -%}{%- endif -%}
  {%- set documented = [model.description, model.columns] if model.config.persist_docs else [] -%}
  {%- do return(local_md5([sql, views, model.config, documented] | string)) -%}
{% endmacro %}


{% macro _get_definitions_of_views(model) %}
  {%- set found = [] -%}
  {%- for node in graph.nodes.values()
      if node.unique_id in model.depends_on.nodes and not versioned_collapsing.is_parsed_for(model, node) -%}
    {%- if node.config.materialized not in ('view', 'ephemeral') or adapter.view_definition is not defined -%}
      {%- do found.append('') -%}
    {%- elif node.config.materialized == 'view' -%}
      {%- do found.append(adapter.view_definition(node.schema, node.alias)) -%}
    {%- endif -%}
    {%- do found.extend(versioned_collapsing._get_definitions_of_views(node)) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}


{# What reads a change set besides the versioned_collapsing models that apply it: other models, and hooks. In each run,
   they must find only what is new. A quarantine is not among them: it reads the parsed lines, and checks whether these
   belong to its batches. #}
{% macro _get_other_readers(model) %}
  {%- set found = [] -%}
  {%- for node in graph.nodes.values()
      if node.resource_type in ('model', 'snapshot', 'operation') and model.unique_id in node.depends_on.nodes
      and not versioned_collapsing.is_parsed_for(node, model) -%}
    {%- set hooks = (node.config.get('pre-hook') or []) + (node.config.get('post-hook') or []) -%}
    {%- if node.config.materialized != 'versioned_collapsing' or model.name in hooks | string -%}
      {%- do found.append(node.name) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}
