{# One row per batch. If there is no batch, there is one row without a batch, so that the flags are always there. A
   count that is not known is null. `id` is the ID of this build, and `definition` the hash of what was built.
   `parsed_lines` names the tables in which the lines of these batches are parsed. `seen` says what the change set has
   had of each staging model: tables of the source, the highest position and the newest time. Other times are in
   microseconds since 1970; `landed_at` may be an expression of SQL. `same` has what all rows have in common, except for
   `taken_at`. #}
{% macro get_manifest(landed, pending, is_complete, counts, id, definition, parsed, seen='{}') %}
  {%- set names = versioned_collapsing.get_line_count_names() -%}
  {%- set rows = [] -%}
  {%- for batch in pending -%}
    {%- set found = landed[batch] -%}
    {%- set row = {
        'batch': batch | int, 'files': found.files | int, 'hash': found.hash, 'landed_at': found.landed_at
    } -%}
    {%- for name in names -%}
      {%- set count = counts.get(batch, {}).get(name) -%}
      {%- do row.update({name: none if count is none else count | int}) -%}
    {%- endfor -%}
    {%- do rows.append(row) -%}
  {%- endfor -%}
  {%- do return({
      'columns': dict(
          batch='bigint', files='bigint', hash='string', landed_at='bigint', taken_at='bigint', id='string',
          definition='string', parsed_lines='string', seen='string', is_complete='boolean', is_partial='boolean',
          **dict.fromkeys(names, 'bigint')
      ),
      'rows': rows or [dict(batch=none, files=0, hash=none, landed_at=none, **dict.fromkeys(names, 0))],
      'same': {
          'id': id, 'definition': definition, 'parsed_lines': parsed | map(attribute='identifier') | join(','),
          'seen': seen, 'is_complete': is_complete, 'is_partial': versioned_collapsing.is_partial_run(),
      },
  }) -%}
{% endmacro %}

{# Writes a manifest, or replaces it. The adapter can put rows into a table that it knows, which takes a tenth of the
   time of the two statements on Spark. Returns what was created. #}
{% macro write_manifest(manifest, content, file_format) %}
  {%- set existing = adapter.get_relation(manifest.database, manifest.schema, manifest.identifier) -%}
  {%- set expressions = content.rows | map(attribute='landed_at') | select('string') | list -%}
  {%- if existing is not none and file_format == 'parquet' and not expressions and adapter.replace_rows is defined -%}
    {%- set now = (modules.datetime.datetime.now(modules.pytz.utc).timestamp() * 1000000) | int -%}
    {%- set rows = [] -%}
    {%- for row in content.rows -%}
      {%- do rows.append(dict(content.same, taken_at=now, **row)) -%}
    {%- endfor -%}
    {%- if adapter.replace_rows(manifest.schema, manifest.identifier, content.columns, rows) -%}
      {%- do return([]) -%}
    {%- endif -%}
  {%- endif -%}
  {%- if existing is not none -%}
    {%- call statement('drop') -%}
      drop table if exists {{ manifest }} purge
    {%- endcall -%}
  {%- endif -%}
  {%- call statement('create_manifest') -%}
    {{ versioned_collapsing.get_create_manifest_sql(manifest, content, file_format) }}
  {%- endcall -%}
  {%- do return([manifest]) -%}
{% endmacro %}

{# The table has one file, so that the adapter can replace its rows. #}
{% macro get_create_manifest_sql(manifest, content, file_format) -%}
  {%- set names = content.rows[0] | list -%}
  create table {{ manifest }} using {{ file_format }} as
  select /*+ coalesce(1) */
    {%- for name, type in content.columns.items() %}
    {%- set value = name if name in names
        else 'unix_micros(current_timestamp())' if name == 'taken_at'
        else versioned_collapsing._get_manifest_literal(content.same[name]) %}
    cast({{ value }} as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from values
    {%- for row in content.rows %}
    ({% for name, value in row.items() %}
      {{- value if name == 'landed_at' and value else versioned_collapsing._get_manifest_literal(value) }}
      {{- ', ' if not loop.last }}
    {%- endfor %}){{ ',' if not loop.last }}
    {%- endfor %}
  as manifest ({{ names | join(', ') }})
{%- endmacro %}

{% macro _get_manifest_literal(value) %}
  {%- do return(
      'null' if value is none else versioned_collapsing.quote_literal(value) if value is string else value | string
  ) -%}
{% endmacro %}

{# The code that makes the rows of a change set from the batches that are taken. If no batch is pending, SQL returns no
   rows, and a Python model finds its inputs empty. #}
{% macro get_change_set_code(code, language, inputs, pending, snapshots={}) %}
  {%- if language == 'python' -%}
    {%- do return(code ~ versioned_collapsing._get_inputs_of_batches(inputs, pending)) -%}
  {%- endif -%}
  {%- set sql = versioned_collapsing.get_code_after_snapshots(
      versioned_collapsing.get_code_on_parsed_lines(code, inputs), snapshots
  ) -%}
  {%- do return(sql if pending else versioned_collapsing.get_no_rows_sql(sql)) -%}
{% endmacro %}

{# Cuts the inputs of a Python model to the batches that are pending, if they have the column `_batch`. Inputs whose
   lines this run has parsed are read from the tables of parsed lines. #}
{% macro _get_inputs_of_batches(inputs, pending) %}
{%- set parsed = {} -%}
{%- for input in inputs if input.parsed -%}
  {%- do parsed.update({input.relation | string: input.parsed | string}) -%}
{%- endfor %}


class dbtObj(dbtObj):
    def __init__(self, load):
        parsed = {{ tojson(parsed) }}

        def load_batches(name):
            rows = load(parsed.get(name, name))
            if name in parsed:
                rows = rows.where("_is_blank is not null").drop("_is_blank", "_line_id")
            if "_batch" not in rows.columns:
                return rows
            return rows.where("{{ '_batch in (' ~ pending | join(', ') ~ ')' if pending else 'false' }}")

        super().__init__(load_batches)


{% endmacro %}

{# The columns of a query without its rows. Spark sees that it need not read anything. #}
{% macro get_no_rows_sql(sql) -%}
  select * from ({{ sql }}) where false
{%- endmacro %}

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
  {#- The manifest's flags are the same in all rows. A row without a batch is always the only row. -#}
  {%- set rows = versioned_collapsing.read_kept_manifest(manifest, file_format, is_one_row_enough=true) -%}
  {%- if not definition or not rows or rows[0]['definition'] != definition or rows[0]['is_partial'] -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set is_empty = rows[0]['batch'] is none -%}
  {%- do return(
      is_empty and rows[0]['is_complete'] | string | lower in (['true', '1'] if is_complete else ['false', '0'])
      or not is_empty and applied_change_sets == [rows[0]['id']] and not versioned_collapsing._get_other_readers(model)
  ) -%}
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
    {%- if node.config.materialized not in ('view', 'ephemeral') or adapter.view_statement is not defined -%}
      {%- do found.append('') -%}
    {%- elif node.config.materialized == 'view' -%}
      {%- do found.append(adapter.view_statement(node.schema, node.alias)) -%}
    {%- endif -%}
    {%- do found.extend(versioned_collapsing._get_definitions_of_views(node)) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# An applied batch is not read again, so later changes of its files would be lost silently. With `on_changed_batch:
   reprocess`, such a batch is taken again automatically. #}
{% macro validate_changed_batches(model, changed, on_changed_batch) %}
  {%- if on_changed_batch not in ('error', 'reprocess') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": on_changed_batch is '" ~ on_changed_batch ~ "'; it takes 'error' or 'reprocess'."
    ) -%}
  {%- endif -%}
  {%- set unexpected = changed | reject('in', versioned_collapsing.get_batches_to_reprocess()) | list -%}
  {%- if unexpected and on_changed_batch == 'error' -%}
    {%- do exceptions.raise_compiler_error(
        "Files of applied batches have changed: " ~ unexpected | join(', ') ~ ". To take these batches again (changes "
        ~ "that are applied already do no harm): dbt run --select " ~ model.name ~ "+ --vars '{reprocess_batches: "
        ~ unexpected ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Stops the run if files of its batches changed while Spark read them. Spark may have read such a file in part, or not
   at all. If the file then looks as it did in the first listing, its rows would be lost silently. #}
{% macro validate_steady_batches(model, landed, pending) %}
  {%- if not pending -%}{%- do return(none) -%}{%- endif -%}
  {%- set now = versioned_collapsing.read_landed_batches(model, again=true) -%}
  {%- set changed = [] -%}
  {%- for batch in pending
      if (now.get(batch, {}).get('hash'), now.get(batch, {}).get('times'))
      != (landed[batch].hash, landed[batch].times) -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- if changed -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": files of " ~ versioned_collapsing.get_batches_text(changed) ~ " changed while Spark read "
        ~ "them, so nothing of this change set is applied. Run again when the files are complete. Write each batch to "
        ~ "a folder .batch=N and rename the folder last: a run then reads all of it or nothing."
    ) -%}
  {%- endif -%}
{% endmacro %}
