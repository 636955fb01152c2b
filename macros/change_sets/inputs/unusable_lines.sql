{# Lines that cannot be used are left out, with or without a quarantine. So the run warns of them. #}
{% macro report_unusable_lines(model, inputs, counts) %}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- if unusable -%}
    {%- set batches = [] -%}
    {%- for batch, count in counts.items() if count.quarantined -%}
      {%- do batches.append(batch) -%}
    {%- endfor -%}
    {%- set queries = [] -%}
    {%- for input in inputs if '_reason' in input.columns -%}
      {%- do queries.append(
          'select _batch, _reason, count(*) from ' ~ input.relation ~ ' where _reason is not null and _batch in ('
          ~ batches[:100] | join(', ') ~ ') group by all'
      ) -%}
    {%- endfor -%}
    {%- set lines = counts.values() | sum(attribute='lines') -%}
    {%- do exceptions.warn(
        model.name ~ ': ' ~ unusable ~ ' of ' ~ versioned_collapsing.format_count(lines, 'line')
        ~ ' cannot be used and ' ~ ('is' if unusable == 1 else 'are') ~ ' left out, in '
        ~ versioned_collapsing.get_batches_text(batches)
        ~ '. To see why: ' ~ queries | join('; ')
        ~ ('.' if versioned_collapsing._are_kept(inputs) else '. To keep such lines, add a model of quarantined_lines.')
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Whether the project has a model of quarantined_lines for each of the inputs. #}
{% macro _are_kept(inputs) %}
  {%- set kept = [] -%}
  {%- for node in graph.nodes.values()
      if 'macro.versioned_collapsing.quarantined_lines' in node.depends_on.get('macros', []) -%}
    {%- do kept.extend(node.depends_on.nodes) -%}
  {%- endfor -%}
  {%- do return(inputs | map(attribute='unique_id') | reject('in', kept) | list == []) -%}
{% endmacro %}


{# If no line can be used, the lines are not what the model takes them for, and the run stops: with the first batches of
   a table (`is_first`), or if there are so many lines that it is no accident. #}
{% macro validate_usable_lines(model, inputs, counts, is_first) %}
  {%- set batches = counts | list -%}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- set said = counts.values() | map(attribute='lines') | select | sum
      - counts.values() | map(attribute='blank') | select | sum
      - counts.values() | map(attribute='passed_over') | select | sum -%}
  {%- if not unusable or unusable < said or (unusable < 20 and not is_first)
      or var('accept_unusable_lines', false) | string | lower == 'true' -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set found = [] -%}
  {%- for input in inputs if '_reason' in input.columns -%}
    {%- set query -%}
      select _reason as reason, count(*) as lines, min_by(_raw_line, struct(_file, _block_start)) as line
      from {{ input.parsed or input.relation }}
      where _reason is not null and _batch in ({{ batches[:100] | join(', ') }})
      group by _reason
      order by lines desc
      limit 3
    {%- endset -%}
    {%- do found.extend(run_query(query).rows) -%}
  {%- endfor -%}
  {%- set reasons = [] -%}
  {%- for row in found -%}
    {%- do reasons.append(versioned_collapsing.format_count(row['lines'], 'line') ~ ': ' ~ row['reason']) -%}
  {%- endfor -%}
  {%- set line = found[0]['line'] -%}
  {%- do exceptions.raise_compiler_error(
      model.unique_id ~ ': none of ' ~ versioned_collapsing.format_count(unusable, 'line') ~ ' in '
      ~ versioned_collapsing.get_batches_text(batches) ~ ' can be used. Nothing was applied.\n  - '
      ~ reasons | join('\n  - ') ~ '\nA line begins: ' ~ line[:200] ~ '\n'
      ~ versioned_collapsing._get_line_advice(line, found[0]['reason'])
      ~ "\nTo keep such lines in the quarantine and go on: --vars '{accept_unusable_lines: true}'"
  ) -%}
{% endmacro %}


{# What a line looks like that a parser does not read, and what to do. #}
{% macro _get_line_advice(line, reason) %}
  {%- set text = line.strip() -%}
  {%- set names = modules.re.findall('"([A-Za-z_]+)" *:', text) -%}
  {%- set other_tools = ' docs/other_tools.md has the model that reads them.' -%}
  {%- if text in ('{', '[') or text.startswith('[') -%}
    {%- do return('It looks like JSON over several lines. Land one JSON object a line, as `jq -c` writes it.') -%}
  {%- elif text.startswith('Struct{') -%}
    {%- do return('It looks like the text of a Java object. Let the sink use the JsonConverter.') -%}
  {%- elif text.startswith('Obj') or text.startswith('PAR1') or '\ufffd' in text[:20] or '\x00' in text[:20] -%}
    {%- do return('It looks like a binary format. Land JSON, or Parquet with file_format: parquet on the source.') -%}
  {%- elif not text.startswith('{') -%}
    {%- do return('It looks like no JSON. Land one JSON object a line. docs/change_sets.md converts CSV files.') -%}
  {%- elif 'op_type' in names -%}
    {%- do return('It looks like GoldenGate, for parse_upserts.' ~ other_tools) -%}
  {%- elif 'isDdl' in names or 'pkNames' in names -%}
    {%- do return('It looks like Canal or TiCDC, for parse_upserts.' ~ other_tools) -%}
  {%- elif 'database' in names and 'data' in names and 'type' in names -%}
    {%- do return('It looks like Maxwell, for parse_upserts.' ~ other_tools) -%}
  {%- elif 'Op' in names -%}
    {%- do return('It looks like AWS DMS, for parse_upserts.' ~ other_tools) -%}
  {%- elif '_airbyte_data' in names or '_fivetran_deleted' in names -%}
    {%- do return('It looks like a table of Airbyte or Fivetran, for parse_upserts.' ~ other_tools) -%}
  {%- elif '__deleted is missing' in reason -%}
    {%- do return("Set delete.tombstone.handling.mode: rewrite in the transform ExtractNewRecordState.") -%}
  {%- elif 'no document' in reason -%}
    {%- do return("Set capture.mode: change_streams_update_full in the connector of MongoDB.") -%}
  {%- elif 'does not fit decimal' in reason -%}
    {%- do return(
        "Debezium writes decimals as bytes by default. Name the column in encodings as 'precise', or set "
        ~ "decimal.handling.mode: string in the connector."
    ) -%}
  {%- elif 'does not fit date' in reason or 'does not fit timestamp' in reason -%}
    {%- do return(
        "Debezium writes dates and times as numbers. Name the column in encodings as 'epoch_days', 'epoch_millis', "
        ~ "'epoch_micros' or 'epoch_nanos', or set time.precision.mode: isostring in the connector."
    ) -%}
  {%- elif 'op' in names -%}
    {%- do return('It looks like an event of Debezium. The reason says what it lacks, or what of it does not fit.') -%}
  {%- elif 'op is missing' in reason -%}
    {%- do return('It looks like a row, and not like an event of Debezium. parse_upserts reads rows.') -%}
  {%- endif -%}
  {%- do return('Compare it with key, columns and version of the staging model.') -%}
{% endmacro %}
