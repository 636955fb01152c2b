{# The models on Spark from which a change set selects. Each comes with its columns, its sources of files, and whether
   there are only views between the files and the change set. A model without `_batch` is ignored. `parsed` is the table
   of parsed lines from which the SQL reads, if there is one. #}
{% macro read_inputs(model, pending, code) %}
  {%- set inputs = [] -%}
  {%- for unique_id in versioned_collapsing.get_built_upstream(model.depends_on.nodes, is_far=false)
      if graph.nodes[unique_id].config.materialized != 'change_set' -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set relation = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- set found = adapter.get_columns_in_relation(relation) if relation is not none else [] -%}
    {%- set columns = found | map(attribute='name') | list -%}
    {%- if '_batch' in columns -%}
      {%- set kinds = [] -%}
      {%- for other in [unique_id] + versioned_collapsing.get_built_upstream(node.depends_on.nodes) -%}
        {%- do kinds.append(graph.nodes[other].config.materialized) -%}
      {%- endfor -%}
      {%- set input = {
          'name': node.name,
          'unique_id': unique_id,
          'relation': relation,
          'columns': columns,
          'sources': versioned_collapsing.get_file_sources(node),
          'is_view': kinds | reject('in', ['view', 'seed']) | list | length == 0,
      } -%}
      {%- do input.update(versioned_collapsing.read_parsed_lines(model, input, pending, code)) -%}
      {%- do inputs.append(input) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(inputs) -%}
{% endmacro %}

{# The models in the database from which nodes descend: all of them, or only the nearest ones. What an ephemeral model
   reads counts as read by its reader. #}
{% macro get_built_upstream(unique_ids, is_far=true) %}
  {%- set found = [] -%}
  {%- for unique_id in unique_ids if unique_id in graph.nodes -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set is_ephemeral = node.config.materialized == 'ephemeral' -%}
    {%- if not is_ephemeral -%}
      {%- do found.append(unique_id) -%}
    {%- endif -%}
    {%- if is_far or is_ephemeral -%}
      {%- do found.extend(versioned_collapsing.get_built_upstream(node.depends_on.nodes, is_far)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found | unique | list) -%}
{% endmacro %}

{# The counts of the lines of the batches that a run takes. First checks that all lines are there. A run with --empty or
   --sample gets no counts, because its manifest says that the change set is a part. #}
{% macro read_counts(model, inputs, pending, is_first=false) %}
  {%- if not pending -%}{%- do return({}) -%}{%- endif -%}
  {%- if versioned_collapsing.is_partial_run() -%}
    {%- do versioned_collapsing.count_lines(inputs, pending) -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- if model.depends_on.macros | select('equalto', 'macro.versioned_collapsing.quarantined_lines') | list -%}
    {# The lines of a quarantine are counted elsewhere, so it has no counts of its own. #}
    {%- set inputs = inputs | rejectattr('is_view') | list -%}
    {%- do versioned_collapsing.count_lines(inputs, pending) -%}
    {%- do versioned_collapsing.validate_whole_tables(model, inputs, pending) -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.count_lines(inputs, pending) -%}
  {%- do versioned_collapsing.validate_whole_tables(model, inputs, pending) -%}
  {%- do versioned_collapsing.log_other_tables(model, inputs) -%}
  {%- do versioned_collapsing.validate_usable_lines(model, inputs, counts, is_first) -%}
  {%- do versioned_collapsing.report_unusable_lines(model, inputs, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}

{# The number of lines of each batch in the inputs: all lines, lines that say nothing, lines that cannot be used,
   messages that are passed over, and events. None for a count that an input cannot tell. #}
{% macro count_lines(inputs, pending) %}
  {%- set counts = {} -%}
  {%- for input in inputs -%}
    {%- if 'found' not in input -%}
      {%- do input.update({'found': versioned_collapsing.read_line_counts(input, pending)}) -%}
    {%- endif -%}
    {%- set found = input.found -%}
    {%- do input.update({'lines': {}, 'tables': [], 'others': []}) -%}
    {%- for row in found.values() -%}
      {%- for name in ('tables', 'others') if row.get(name) -%}
        {%- do input[name].extend(row[name].split(', ')) -%}
      {%- endfor -%}
    {%- endfor -%}
    {%- for batch in pending -%}
      {%- set total = counts.setdefault(batch, dict.fromkeys(versioned_collapsing.get_line_count_names(), 0)) -%}
      {%- for name in total if batch in found -%}
        {%- set count = found[batch][name] -%}
        {%- do total.update({name: none if count is none or total[name] is none else total[name] + count | int}) -%}
      {%- endfor -%}
      {%- do input.lines.update({batch: found[batch]['lines'] | int if batch in found else 0}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}

{# A table does not say how it was built, so it is compared with the files. A table that keeps every line must have as
   many lines as the files. Any other table must have at least some. #}
{% macro validate_whole_tables(model, inputs, pending) %}
  {%- set problems = [] -%}
  {%- for input in inputs if not input.is_view -%}
    {%- set landed = versioned_collapsing._count_landed_lines(input.sources, pending) -%}
    {%- if '_raw_line' in input.columns -%}
      {%- for batch in pending if input.lines[batch] != landed.get(batch, 0) -%}
        {%- do problems.append(
            input.relation ~ ' has ' ~ input.lines[batch] ~ ' of the ' ~ landed.get(batch, 0)
            ~ ' lines of batch ' ~ batch
        ) -%}
      {%- endfor -%}
    {%- elif landed.values() | sum and not input.lines.values() | sum -%}
      {%- do problems.append(input.relation ~ ' has no rows of ' ~ versioned_collapsing.get_batches_text(pending)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_whole_inputs(model, problems[:10]) -%}
{% endmacro %}

{% macro _count_landed_lines(sources, pending) %}
  {%- set counts = {} -%}
  {%- for source in sources if versioned_collapsing.read_location(source.location) -%}
    {%- set query -%}
      select cast(batch as bigint) as batch, count(*) as lines
      from {{ source.file_format }}.`{{ source.location | replace('`', '``') }}`
      where cast(batch as bigint) in ({{ pending | join(', ') }})
      group by batch
    {%- endset -%}
    {%- for row in run_query(query).rows -%}
      {%- do counts.update({row['batch'] | int: counts.get(row['batch'] | int, 0) + row['lines'] | int}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}

{% macro validate_whole_inputs(model, problems) %}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " would lack rows of the batches that it takes:\n  - " ~ problems | join('\n  - ')
        ~ "\nBuild these with it: dbt run --select +" ~ model.name ~ '+'
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Names the tables whose events are left out. #}
{% macro log_other_tables(model, inputs) %}
  {%- for input in inputs if input.get('others') -%}
    {%- do log(
        model.name ~ ': events of other tables are left out: ' ~ input.others | unique | join(', '), info=true
    ) -%}
  {%- endfor -%}
{% endmacro %}

{# If no line can be used, the lines are not what the model takes them for, and the run stops: with the first batches of
   a table (`is_first`), or if there are so many lines that it is no accident. The same goes if a field is missing, is
   null or does not fit, and only deletes can be used, for which their key is enough. #}
{% macro validate_usable_lines(model, inputs, counts, is_first) %}
  {%- set batches = counts | list -%}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- set has_other_events = unusable < versioned_collapsing._get_telling_lines(counts) -%}
  {%- if not unusable or (has_other_events and versioned_collapsing._have_usable_rows(inputs))
      or (unusable < 20 and not is_first) or var('accept_unusable_lines', false) | string | lower == 'true' -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing._read_reasons(inputs, batches) -%}
  {%- if has_other_events and not modules.re.search(' is (missing|null)$| does not fit ', found[0]['reason']) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set line = found[0]['line'] -%}
  {%- set missing = versioned_collapsing._get_misspelt_column(inputs, found[0]) -%}
  {%- set advice = versioned_collapsing._get_line_advice(line, found[0]['reason']) if not missing else
      'columns has ' ~ missing ~ ', and no row has it: correct the name. If the source leaves such fields out, set '
      ~ 'missing_fields.' -%}
  {%- do exceptions.raise_compiler_error(
      model.unique_id ~ ': none of ' ~ versioned_collapsing.format_count(unusable, 'line')
      ~ (' with a row in ' if has_other_events else ' in ')
      ~ versioned_collapsing.get_batches_text(batches) ~ ' can be used. Nothing was applied.\n  - '
      ~ versioned_collapsing._get_reasons(found) | join('\n  - ') ~ '\nA line begins: ' ~ line[:200] ~ '\n'
      ~ advice ~ "\nTo keep such lines in the quarantine and go on: --vars '{accept_unusable_lines: true}'"
  ) -%}
{% endmacro %}

{# The column that no row of these lines has, going by the most frequent reason; empty if there is none. A field that is
   required is null for the parser, too, if a line lacks it. #}
{% macro _get_misspelt_column(inputs, found) %}
  {%- set known = inputs | sum(attribute='columns', start=[]) | reject('equalto', 'op') | list -%}
  {%- set names = modules.re.findall('"([^"]*)" *:', found['line']) -%}
  {%- for name, kind in modules.re.findall('^(\\w+) is (missing|null)$', found['reason'])
      if name in known and (kind == 'missing' or name not in names) -%}
    {%- do return(name) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}

{# The number of lines that are not blank or of other tables. #}
{% macro _get_telling_lines(counts) %}
  {%- do return(
      counts.values() | map(attribute='lines') | select | sum
      - counts.values() | map(attribute='blank') | select | sum
      - counts.values() | map(attribute='ignored') | select | sum
  ) -%}
{% endmacro %}

{# Whether inputs have a row that can be used, and not only deletes, as far as they tell. #}
{% macro _have_usable_rows(inputs) %}
  {%- for input in inputs -%}
    {%- for row in input.found.values() if row.get('rows') is none or row['rows'] | int -%}
      {%- do return(true) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(false) -%}
{% endmacro %}

{# The three most frequent reasons of each input why lines of these batches cannot be used, each with a line. #}
{% macro _read_reasons(inputs, batches) %}
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
  {%- do return(found) -%}
{% endmacro %}

{% macro _get_reasons(found) %}
  {%- set reasons = [] -%}
  {%- for row in found -%}
    {%- do reasons.append(versioned_collapsing.format_count(row['lines'], 'line') ~ ': ' ~ row['reason']) -%}
  {%- endfor -%}
  {%- do return(reasons) -%}
{% endmacro %}

{# What kind of line a parser cannot read, judging by its text, and what to do. #}
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
    {%- do return('It looks like no JSON. Land one JSON object a line. For CSV: dbt-spark-clickhouse land --help.') -%}
  {%- elif modules.re.search('\\}\\s*\\{', text) -%}
    {%- do return(
        'It looks like several JSON objects on one line. Land one a line, as `jq -c .` writes them. Firehose puts a '
        ~ 'line break behind each record with AppendDelimiterToRecord.'
    ) -%}
  {%- elif 'specversion' in names -%}
    {%- do return('It looks like CloudEvents. Let the sink write plain JSON: debezium.format.value=json.') -%}
  {%- elif 'operationType' in names and 'documentKey' in names -%}
    {%- do return("It looks like MongoDB's own change stream. Land it by Debezium's connector for MongoDB.") -%}
  {%- elif 'value and set' in reason -%}
    {%- do return('Replace each object by its value before the lines land.') -%}
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

{# Lines that cannot be used are left out, with or without a quarantine. So the run warns of them. #}
{% macro report_unusable_lines(model, inputs, counts) %}
  {%- set unusable = counts.values() | map(attribute='quarantined') | select | sum -%}
  {%- if unusable -%}
    {%- set batches = [] -%}
    {%- for batch, count in counts.items() if count.quarantined -%}
      {%- do batches.append(batch) -%}
    {%- endfor -%}
    {%- set commands = [] -%}
    {%- for input in inputs if '_reason' in input.columns -%}
      {%- do commands.append(
          'dbt show --inline "select _batch, _reason, _raw_line from {' ~ "{ ref('" ~ input.name
          ~ "') }" ~ '} where _reason is not null and _batch in (' ~ batches[:100] | join(', ') ~ ')"'
      ) -%}
    {%- endfor -%}
    {%- set lines = versioned_collapsing._get_telling_lines(counts) -%}
    {%- set reasons = versioned_collapsing._get_reasons(versioned_collapsing._read_reasons(inputs, batches)) -%}
    {%- do exceptions.warn(
        model.name ~ ': ' ~ unusable ~ ' of ' ~ versioned_collapsing.format_count(lines, 'line')
        ~ ' cannot be used and ' ~ ('is' if unusable == 1 else 'are') ~ ' left out, in '
        ~ versioned_collapsing.get_batches_text(batches) ~ ' ('
        ~ reasons | join('; ') ~ '). To see them: ' ~ commands | join('; ')
        ~ ('.' if versioned_collapsing._are_kept(inputs) else '. To keep such lines, add a model of quarantined_lines.')
        ~ versioned_collapsing._get_range_advice(reasons | join(' '))
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Dates such as 9999-12-31 mean that there is no end. #}
{% macro _get_range_advice(reasons) %}
  {%- set columns = modules.re.findall('(\\w+) is outside ', reasons) | unique | list -%}
  {%- do return(
      " To replace values outside by the nearest bound: ranges={'" ~ columns | join("': 'clamp', '")
      ~ "': 'clamp'} in the staging model."
      if columns else ''
  ) -%}
{% endmacro %}

{# Whether the project has a model of quarantined_lines for each of the inputs. #}
{% macro _are_kept(inputs) %}
  {%- set kept = versioned_collapsing.get_nodes_with_kept_lines() -%}
  {%- do return(inputs | map(attribute='unique_id') | reject('in', kept) | list == []) -%}
{% endmacro %}

{# The models that the models of quarantined_lines read. #}
{% macro get_nodes_with_kept_lines() %}
  {%- set kept = [] -%}
  {%- for node in graph.nodes.values()
      if 'macro.versioned_collapsing.quarantined_lines' in node.depends_on.get('macros', []) -%}
    {%- do kept.extend(node.depends_on.nodes) -%}
  {%- endfor -%}
  {%- do return(kept) -%}
{% endmacro %}

{# The counted events must be those of one table on one server, given what the change set has seen. #}
{% macro validate_no_stray_events(model, inputs) %}
  {%- set problems = [] -%}
  {%- for input in inputs -%}
    {%- set tables = (input.seen.get('tables', []) + input.get('tables', [])) | unique | list -%}
    {%- if tables | length > 1 -%}
      {%- do problems.append(
          'the events of ' ~ input.name ~ ' are of several tables: ' ~ tables | join(', ')
          ~ '. Nothing was written. Name the table of this model in parse_debezium: table=\'' ~ tables[0]
          ~ '\'. The events of other tables are then left out and counted.'
      ) -%}
    {%- endif -%}
    {%- set moved = versioned_collapsing._read_move(input) -%}
    {%- if moved -%}
      {%- do problems.append(
          'batch ' ~ moved.batch ~ ' of ' ~ input.name ~ ' ends with '
          ~ versioned_collapsing.format_count(moved.lower, 'event') ~ ' newer than all others at lower positions, '
          ~ 'which would be late. Nothing was written. If the source has moved to another server or was restored, let '
          ~ 'an epoch begin there, in parse_debezium: epochs=['
          ~ versioned_collapsing._get_epochs_so_far(input, moved.begin) ~ ']. If not, take them as they are: dbt run '
          ~ "--vars '{max_lower_positions: 1}'"
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change_set') -%}
{% endmacro %}

{# The first batch whose newest events have lower positions than all before them: the source has moved to another
   server or was restored, and the table would stand still. A server can commit no event that is newer and lower, in
   whatever order events land. `begin` is the time above all that came from the old server: a batch can have events of
   both servers, and lines of the old one can land again later. #}
{% macro _read_move(input) %}
  {%- set before = dict(input.seen) -%}
  {%- set limits = {} -%}
  {%- set found = input.get('found', {}) -%}
  {%- for batch in found | sort if '_event_ms' in input.columns and found[batch].highest is not none -%}
    {%- set row = found[batch] -%}
    {%- if before.get('highest') and row.lowest is not none and row.lowest < before.highest
        and row.newest | int > before.newest | int -%}
      {%- do limits.update({batch: dict(before)}) -%}
    {%- endif -%}
    {%- do before.update(versioned_collapsing._get_highest(before, row)) -%}
  {%- endfor -%}
  {%- if not limits -%}{%- do return(none) -%}{%- endif -%}
  {%- for row in run_query(versioned_collapsing._get_lower_events_sql(input, limits)).rows -%}
    {%- set batch = row['batch'] | int -%}
    {%- if row['lower'] | int > found[batch].timed | int * (var('max_lower_positions', 0) | float) -%}
      {%- do return({'batch': batch, 'lower': row['lower'] | int, 'begin': row['begin'] | int}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}

{# For each batch, the number of events that are below the highest position before it and newer than all others. #}
{% macro _get_lower_events_sql(input, limits) -%}
  {%- set highest, newest = [], [] -%}
  {%- for batch, before in limits.items() -%}
    {%- do highest.append('when ' ~ batch ~ " then '" ~ before.highest ~ "'") -%}
    {%- do newest.append('when ' ~ batch ~ ' then ' ~ before.newest) -%}
  {%- endfor -%}
  select _batch as batch, count_if(is_lower and _event_ms > newest) as lower, max(newest) + 1 as begin
  from (
    select
      _batch,
      _event_ms,
      is_lower,
      greatest(
        case _batch {{ newest | join(' ') }} end,
        max(if(is_lower, null, _event_ms)) over (partition by _batch)
      ) as newest
    from (
      select _batch, _event_ms, _version < case _batch {{ highest | join(' ') }} end as is_lower
      from {{ input.parsed or input.relation }}
      where _reason is null
        and _event_ms is not null
        and _batch in ({{ limits | join(', ') }})
    )
  )
  group by _batch
  order by _batch
{%- endmacro %}

{# What a model has in `epochs`, with an epoch that begins at this time. #}
{% macro _get_epochs_so_far(input, begin) %}
  {%- set moment = modules.datetime.datetime(1970, 1, 1) + modules.datetime.timedelta(milliseconds=begin) -%}
  {%- set text = "'" ~ moment.isoformat(' ', 'milliseconds') ~ "'" -%}
  {%- set given = modules.re.findall('epochs\\s*=\\s*\\[([^\\]]*)\\]', graph.nodes[input.unique_id].raw_code or '') -%}
  {%- set before = given[0] | trim if given else '' -%}
  {%- do return(before.rstrip(',') ~ ', ' ~ text if before else text) -%}
{% endmacro %}

{% macro _get_highest(before, row) %}
  {%- do return({
      'highest': [before.get('highest') or '', row.highest] | max,
      'newest': [before.get('newest') or 0, row.newest | int] | max,
  }) -%}
{% endmacro %}

{# Whether a run looks at the manifest of the last build. #}
{% macro is_manifest_needed(inputs) %}
  {%- if should_full_refresh() -%}{%- do return(false) -%}{%- endif -%}
  {%- for input in inputs
      if adapter.empty_table is defined or input.is_parsed_here
      or '_table' in input.columns or '_event_ms' in input.columns -%}
    {%- do return(true) -%}
  {%- endfor -%}
  {%- do return(false) -%}
{% endmacro %}

{# What a change set had seen of each input when it was last built: tables, the highest position, the newest time, and
   which parser reads its lines first. Each input gets its own as `seen`. `kept` has a row of the manifest of that time,
   if there is one. #}
{% macro add_seen(kept, inputs) %}
  {%- set known = fromjson(kept[0].get('seen') or '{}') if kept else {} -%}
  {%- for input in inputs -%}
    {%- do input.update({'seen': known.get(input.name, {})}) -%}
  {%- endfor -%}
{% endmacro %}

{# The same as JSON, updated with what this run has seen. #}
{% macro get_seen(inputs) %}
  {%- set seen = {} -%}
  {%- for input in inputs -%}
    {%- set before = dict(input.seen) -%}
    {%- do before.update({'tables': (before.get('tables', []) + input.get('tables', [])) | unique | list}) -%}
    {%- do before.update(versioned_collapsing.get_seen_of_parser(input)) -%}
    {%- for row in input.get('found', {}).values() if row.get('highest') is not none -%}
      {%- do before.update(versioned_collapsing._get_highest(before, row)) -%}
    {%- endfor -%}
    {%- do seen.update({input.name: before}) -%}
  {%- endfor -%}
  {%- do return(tojson(seen)) -%}
{% endmacro %}

{# A view that was made by a run with --empty or --sample reads only a part, as long as it exists. A view that was made
   before the first batch landed reads nothing. A change set that reads such a view would mark batches as applied that
   nothing has read. #}
{% macro validate_whole_views(model, landed, pending) %}
  {%- if versioned_collapsing.is_partial_run() -%}{%- do return(none) -%}{%- endif -%}
  {%- set problems = [] -%}
  {%- set locations = [] -%}
  {%- for batch in pending -%}
    {%- do locations.extend(landed[batch].locations) -%}
  {%- endfor -%}
  {%- for unique_id in versioned_collapsing.get_built_upstream(model.depends_on.nodes) if pending -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set relation = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- if relation is not none and relation.is_view -%}
      {%- do problems.extend(versioned_collapsing.get_partial_view_problems(
          relation, versioned_collapsing.read_view_text(relation), locations
      )) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_whole_inputs(model, problems) -%}
{% endmacro %}

{% macro get_partial_view_problems(relation, text, locations) %}
  {%- set problems = [] -%}
  {%- if versioned_collapsing.is_text_of_part(text) -%}
    {%- do problems.append(
        relation ~ ' was built by a run with --empty or --sample and reads only a part of its input'
    ) -%}
  {%- endif -%}
  {%- for location in locations | unique if versioned_collapsing.get_empty_landing_mark(location) in text -%}
    {%- do problems.append(relation ~ ' was built before the first batch landed in ' ~ location) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# Whether a text is what dbt writes to read an input with --empty (nothing) or --sample (a span of time). #}
{% macro is_text_of_part(text) %}
  {%- set span = "\\S+ >= '\\d{4}-\\d\\d-\\d\\d[ T][^']*' and \\S+ < '\\d{4}-\\d\\d-\\d\\d[ T][^']*'" -%}
  {%- set part = '\\(select \\* from (`[^`]*`|[^()`])+ where (false limit 0|' ~ span ~ ')\\)' -%}
  {%- do return(modules.re.search(part, text) is not none) -%}
{% endmacro %}
