{# The counts of the lines of the batches that a run takes. First checks that all lines are there. A run with --empty or
   --sample gets no counts, because its manifest says that the change set is a part. #}
{% macro read_counts(model, inputs, taken, known_tables={}) %}
  {%- if not taken or versioned_collapsing.is_partial_run() -%}{%- do return({}) -%}{%- endif -%}
  {%- if model.depends_on.macros | select('equalto', 'macro.versioned_collapsing.quarantined_lines') | list -%}
    {# The lines of a quarantine are counted elsewhere, so it has no counts of its own. #}
    {%- set inputs = inputs | rejectattr('is_view') | list -%}
    {%- do versioned_collapsing.count_lines(inputs, taken) -%}
    {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.count_lines(inputs, taken) -%}
  {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
  {%- do versioned_collapsing.validate_one_table(model, inputs, known_tables) -%}
  {%- do versioned_collapsing.report_unusable_lines(model, inputs, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# Events of several tables in one staging model stop the change set: a line of another table is never a row of this
   one. `known` has the tables of the change set that was built before. #}
{% macro validate_one_table(model, inputs, known) %}
  {%- for input in inputs -%}
    {%- set tables = (known.get(input.name, []) + input.get('tables', [])) | unique | list -%}
    {%- if tables | length > 1 -%}
      {%- do exceptions.raise_compiler_error(
          model.unique_id ~ ': the events of ' ~ input.name ~ ' are of several tables: ' ~ tables | join(', ')
          ~ '. Nothing was written. Name the table of this model in parse_debezium: table=\'' ~ tables[0]
          ~ '\'. The events of other tables are then left out and counted.'
      ) -%}
    {%- endif -%}
    {%- if input.get('others') -%}
      {%- do log(
          model.name ~ ': events of other tables are left out: ' ~ input.others | unique | join(', '), info=true
      ) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{# The tables whose events a change set had when it was built last, by input. It is asked only if a staging model names
   the tables of its lines, which it does without the argument `table`. #}
{% macro read_known_tables(manifest, inputs) %}
  {%- set known = {} -%}
  {%- for input in inputs if '_table' in input.columns -%}
    {%- do known.update({input.name: []}) -%}
  {%- endfor -%}
  {%- if known and adapter.get_relation(manifest.database, manifest.schema, manifest.identifier) is not none -%}
    {%- for row in run_query('select * from ' ~ manifest ~ ' limit 1').rows -%}
      {%- for place in (row.get('tables') or '').split(', ') if '=' in place -%}
        {%- set name, table = place.split('=', 1) -%}
        {%- if name in known -%}
          {%- do known[name].append(table) -%}
        {%- endif -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(known) -%}
{% endmacro %}


{# The tables of the inputs as text, for the manifest. #}
{% macro get_tables_text(inputs, known) %}
  {%- set places = [] -%}
  {%- for input in inputs -%}
    {%- for table in (known.get(input.name, []) + input.get('tables', [])) | unique -%}
      {%- do places.append(input.name ~ '=' ~ table) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(places | join(', ')) -%}
{% endmacro %}
