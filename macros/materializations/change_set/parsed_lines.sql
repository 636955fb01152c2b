{# For an input of a change set: the table of parsed lines that the SQL names (`named`), the table that it is to read
   (`parsed`), and whether this run makes that table (`is_parsed_here`). #}
{% macro read_parsed_lines(model, input, pending, code) %}
  {%- set own = versioned_collapsing.get_parsed_lines_relation(this, input.relation) -%}
  {%- if model.language == 'python' and input.is_view and versioned_collapsing._has_parsed_lines(input.columns) -%}
    {%- do return({'named': own, 'parsed': own, 'is_parsed_here': true}) -%}
  {%- elif model.language != 'sql' or not modules.re.search(versioned_collapsing._get_name_pattern(own), code) -%}
    {%- do return({'named': none, 'parsed': none, 'is_parsed_here': false}) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_parsed_elsewhere(model, input, pending) if pending else none -%}
  {%- do return({'named': own, 'parsed': found or own, 'is_parsed_here': found is none}) -%}
{% endmacro %}

{# The table in which a change set keeps the lines that it takes from a staging model, parsed. #}
{% macro get_parsed_lines_relation(change_set, events) %}
  {%- set identifier = change_set.identifier ~ '__' ~ events.identifier -%}
  {%- do return(change_set.incorporate(path={'identifier': identifier}, type='table')) -%}
{% endmacro %}

{% macro _get_name_pattern(relation) %}
  {%- do return('(?<!\\w)' ~ modules.re.escape(relation | string) ~ '(?!\\w)') -%}
{% endmacro %}

{# The table in which another change set, to which a model refers, has parsed the lines of an input. None unless it has
   all batches that the model takes, as they are in the landing zone. #}
{% macro read_parsed_elsewhere(model, input, pending) %}
  {%- for node in graph.nodes.values()
      if node.unique_id in model.depends_on.nodes and node.config.materialized == 'change_set'
      and input.unique_id in node.depends_on.nodes -%}
    {%- set change_set = versioned_collapsing.read_built_change_set(node.database, node.schema, node.alias) -%}
    {%- if change_set is not none -%}
      {%- set parsed = versioned_collapsing.get_parsed_lines_relation(change_set, input.relation) -%}
      {%- if versioned_collapsing._read_has_lines(node, change_set, parsed, pending) -%}
        {%- do return(parsed) -%}
      {%- endif -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}

{# A change set. None if there is none, or if it was emptied by a run that died before it had filled it. #}
{% macro read_built_change_set(database, schema, identifier) %}
  {%- set found = adapter.get_relation(database, schema, identifier) -%}
  {%- set is_emptied = found is not none and adapter.is_emptied is defined
      and adapter.is_emptied(schema, identifier) -%}
  {%- do return(none if is_emptied else found) -%}
{% endmacro %}

{% macro _read_has_lines(node, change_set, parsed, pending) %}
  {%- set manifest = versioned_collapsing.get_change_set_manifest_relation(change_set) -%}
  {%- set rows = versioned_collapsing.read_kept_manifest(manifest, node.config.file_format or 'parquet') -%}
  {%- if not rows -%}{%- do return(false) -%}{%- endif -%}
  {%- set hashes = {} -%}
  {%- for row in rows
      if parsed.identifier in row['parsed_lines'].split(',') and row['batch'] is not none -%}
    {%- do hashes.update({row['batch'] | int: row['hash']}) -%}
  {%- endfor -%}
  {%- for batch, found in versioned_collapsing.read_landed_batches(node).items()
      if batch in pending and hashes.get(batch) != found.hash -%}
    {%- do return(false) -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}

{% macro get_own_parsed_lines(inputs) %}
  {%- do return(inputs | selectattr('is_parsed_here') | map(attribute='parsed') | list) -%}
{% endmacro %}

{# The SQL, changed so that it reads the lines from the tables that have them already. #}
{% macro get_code_on_parsed_lines(code, inputs) %}
  {%- set found = namespace(code=code) -%}
  {%- for input in inputs if input.parsed and not input.is_parsed_here -%}
    {%- set pattern = versioned_collapsing._get_name_pattern(input.named) -%}
    {%- set found.code = modules.re.sub(pattern, input.parsed | string, found.code) -%}
  {%- endfor -%}
  {%- do return(found.code) -%}
{% endmacro %}

{# Whether a model refers to a change set only for the lines that the change set has parsed. #}
{% macro is_parsed_for(model, change_set) %}
  {%- do return(
      change_set.config.materialized == 'change_set'
      and 'macro.versioned_collapsing.quarantined_lines' in model.depends_on.macros
  ) -%}
{% endmacro %}

{# Where to read the lines of a staging model that a change set holds: the table in which the change set has parsed
   them, or else the staging model. `events` may be a query, if a test is about a part of the rows. #}
{% macro read_kept_lines(change_set, events) %}
  {%- if execute and events.identifier is defined and not versioned_collapsing.is_partial_run() -%}
    {%- set parsed = versioned_collapsing.get_parsed_lines_relation(change_set, events) -%}
    {%- set manifest = versioned_collapsing.get_change_set_manifest_relation(change_set) -%}
    {%- set rows = versioned_collapsing.read_kept_manifest(manifest, is_one_row_enough=true) -%}
    {%- if rows and parsed.identifier in (rows[0].get('parsed_lines') or '').split(',')
        and versioned_collapsing.read_built_change_set(
            change_set.database, change_set.schema, change_set.identifier
        ) is not none
        and adapter.get_relation(parsed.database, parsed.schema, parsed.identifier) is not none -%}
      {%- do return(parsed) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return(events) -%}
{% endmacro %}

{# For the test no_unknown_fields: names the fields that its query finds, and returns the rows as SQL. #}
{% macro read_found_fields_sql(query, events) %}
  {%- set found = run_query(query ~ ' order by batch, problem, field').rows -%}
  {%- set rows, fields = [], [] -%}
  {%- for row in found -%}
    {%- set of = ' of batch ' ~ row['batch'] -%}
    {%- do fields.append(row['field'] ~ (
        ' is in no row' ~ of if row['problem'] == 'in no row'
        else ' is in ' ~ versioned_collapsing.format_count(row['lines'], 'line') ~ of ~ ' and not in columns'
    )) -%}
    {%- do rows.append(
        '(' ~ row['batch'] ~ ', ' ~ versioned_collapsing.quote_literal(row['problem']) ~ ', '
        ~ versioned_collapsing.quote_literal(row['field']) ~ ', ' ~ row['lines'] ~ ')'
    ) -%}
  {%- endfor -%}
  {%- if not rows -%}
    {%- do return("select 0 as batch, '' as problem, '' as field, 0 as lines where false") -%}
  {%- endif -%}
  {%- do exceptions.warn(
      (events.identifier or events) ~ ': ' ~ fields[:20] | join('; ')
      ~ ('; and ' ~ (fields | length - 20) ~ ' more' if fields | length > 20 else '')
      ~ ('. If a name in columns is misspelt, correct it, and take the batches again (reprocess_batches)'
          if found | map(attribute='problem') | unique | list | length > 1 else '')
      ~ '. To take a field over: "A new column" in docs/your_project.md.'
  ) -%}
  {%- do return(
      'select * from values ' ~ rows | join(', ') ~ ' as _dbt_found (batch, problem, field, lines)'
  ) -%}
{% endmacro %}

{# Parses the lines of the batches that a run takes, into a table, and counts them. Most streams need only a part of
   their parser: a template of their lines, or else what reads plain envelopes. Spark plans and runs that in a fraction
   of the time. The lines that it leaves are read by the parser itself, and added. #}
{% macro parse_lines(model, input, pending, emptied) %}
  {%- set keeps_text = model.language == 'python' -%}
  {%- set parser = versioned_collapsing.get_parser_sql(versioned_collapsing._read_query_of_view(input.relation))
      if pending else none -%}
  {%- set first = versioned_collapsing._read_first_parser(input, parser, pending) if parser else none -%}
  {%- set rows -%}
    {{ versioned_collapsing._get_parsed_rows_sql(
        input, first or input.relation, keeps_text, first is not none, 'monotonically_increasing_id()'
    ) }}
    where {{ '_batch in (' ~ pending | join(', ') ~ ')' if pending else 'false' }}
  {%- endset -%}
  {%- set counts = versioned_collapsing._get_line_counts(input) if pending | length == 1 else {} -%}
  {%- set counted = versioned_collapsing.refill(input.parsed, emptied, rows, counts) -%}
  {%- if counted is none -%}
    {%- call statement('parse_lines') -%}
      create table {{ input.parsed }} using {{ model.config.file_format or 'parquet' }} as
      {{ rows }}
    {%- endcall -%}
  {%- endif -%}
  {%- if not pending -%}{%- do return(none) -%}{%- endif -%}
  {%- do input.update({
      'found': {pending[0]: counted} if counted else versioned_collapsing.read_line_counts(input, pending)
  }) -%}
  {%- set left = input.found.values() | map(attribute='lines_left') | map('int') | sum -%}
  {%- if not left -%}{%- do return(none) -%}{%- endif -%}
  {%- set events = versioned_collapsing._get_event_count(input.found) -%}
  {#- If the text of each shows that it is a plain envelope, what reads these reads all. -#}
  {%- set others = input.found.values() | map(attribute='other_forms') | map('int') | sum -%}
  {%- set rest = parser if others else versioned_collapsing.get_sql_of_plain_envelopes(parser) -%}
  {%- set left_lines -%}
    select _raw_line, _batch, _file, _block_start, _line_id from {{ input.parsed }} where _is_blank is null
  {%- endset -%}
  {%- call statement('parse_lines_left') -%}
    insert into {{ input.parsed }}
    {{ versioned_collapsing._get_parsed_rows_sql(
        input, '(' ~ versioned_collapsing.get_parser_of_lines(rest, left_lines) ~ ')', keeps_text
    ) }}
  {%- endcall -%}
  {%- do input.update({'found': versioned_collapsing.read_line_counts(input, pending)}) -%}
  {#- Only events count: most lines may be heartbeats, or of other tables. -#}
  {%- do input.update({'leaves_most': versioned_collapsing._get_event_count(input.found) > 2 * events}) -%}
{% endmacro %}

{% macro _get_event_count(found) %}
  {%- do return(found.values() | map(attribute='events') | reject('none') | map('int') | sum) -%}
{% endmacro %}

{# The part of a parser that reads the lines of an input first; none if it left most lines before. Some lines show the
   shape for a template, unless it is known. #}
{% macro _read_first_parser(input, parser, pending) %}
  {%- set plain = versioned_collapsing.get_sql_of_plain_envelopes(parser) -%}
  {%- if plain is none or input.seen.has_other_forms -%}{%- do return(none) -%}{%- endif -%}
  {%- set arguments = versioned_collapsing.get_template_arguments(parser) -%}
  {%- if arguments is none -%}{%- do return('(' ~ plain ~ ')') -%}{%- endif -%}
  {%- set id = local_md5(tojson(arguments)) -%}
  {%- set lines = versioned_collapsing.get_lines_of_parser(parser) -%}
  {%- set known = input.seen.get('template', {}) -%}
  {%- set found = namespace(shape=known.get('shape')) -%}
  {%- if known.get('id') != id -%}
    {%- set sample = versioned_collapsing._read_sample(lines, pending, arguments.tables) -%}
    {%- set found.shape = versioned_collapsing.get_template_shape(sample, arguments) -%}
    {%- if sample -%}{%- do input.update({'template': {'id': id, 'shape': found.shape}}) -%}{%- endif -%}
  {%- endif -%}
  {%- do return('(' ~ (versioned_collapsing.get_template_sql(arguments, found.shape, lines) if found.shape
      else plain) ~ ')') -%}
{% endmacro %}

{# What the next run must know of the first parser. If a template left most lines, its shape is no longer that of the
   stream: the next run looks for another. If a new shape left most lines, none is looked for. #}
{% macro get_seen_of_parser(input) %}
  {%- set template = input.get('template') or input.seen.get('template') -%}
  {%- if not input.get('leaves_most') -%}
    {%- do return({'template': template} if template else {}) -%}
  {%- elif not template or template.shape is none -%}
    {%- do return({'has_other_forms': true}) -%}
  {%- elif 'template' in input -%}
    {%- do return({'template': {'id': template.id, 'shape': none}}) -%}
  {%- endif -%}
  {%- do return({'template': {}}) -%}
{% endmacro %}

{# Some envelopes of the batches that have a row and do not nest too deeply for Python; only of the tables, if any are
   given. #}
{% macro _read_sample(lines, pending, tables) %}
  {%- set source = 'source: struct<schema: string, db: string, table: string, collection: string>' -%}
  {%- set query -%}
    select _raw_line as line
    from (
      select _raw_line, _batch, from_json(_raw_line, 'struct<{{ source }}>').source as _source
      from ({{ lines }})
    )
    where _batch in ({{ pending | join(', ') }})
      and octet_length(_raw_line) <= 100000
      and startswith(_raw_line, '{"')
      and contains(_raw_line, '"op"')
      and _raw_line rlike r'"(?:before|after)": ?\{'
      and octet_length(_raw_line) - octet_length(translate(_raw_line, '{[', '')) <= 300
      {%- if tables %}
      and {{ versioned_collapsing.get_is_of_table_sql(tables) }}
      {%- endif %}
    limit 20
  {%- endset -%}
  {%- do return(run_query(query).rows | map(attribute=0) | list) -%}
{% endmacro %}

{# The text of the query that made a view. #}
{% macro _read_query_of_view(view) %}
  {%- set name = '(?:`[^`]*`|[^\\s`])+' -%}
  {%- do return(modules.re.sub(
      '(?s)^(?:\\s|/\\*.*?\\*/)*create or replace view ' ~ name ~ '\\s+as\\s', '',
      versioned_collapsing.read_view_text(view)
  )) -%}
{% endmacro %}

{# The adapter may know the statement that made the view. #}
{% macro read_view_text(relation) %}
  {%- set known = adapter.view_statement(relation.schema, relation.identifier)
      if adapter.view_statement is defined else '' -%}
  {%- if known -%}{%- do return(known) -%}{%- endif -%}
  {%- for row in run_query('describe table extended ' ~ relation).rows if row[0] == 'View Text' -%}
    {%- do return(row[1] | string) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}

{# The rows of the table of parsed lines. For SQL, the text is kept only for lines that cannot be used. A line that the
   first parser leaves is a row with its place and its text and no more: no reader takes it for an event or for a line
   that cannot be used, and `_is_blank` is null. Spark reads the lines of a block in their order, so `_line_id` grows by
   one from line to line. #}
{% macro _get_parsed_rows_sql(input, lines, keeps_text, is_first=false, line_id='_line_id') -%}
  {%- set is_left = versioned_collapsing.get_is_other_form_sql() -%}
  {%- set blank = 'coalesce(' ~ versioned_collapsing.get_line_conditions(input.columns)['blank'] ~ ', false)' -%}
  select
    {%- for name in input.columns if name != '_raw_line' %}
    {%- set quoted = adapter.quote(name) %}
    {{ 'if(' ~ is_left ~ ', null, ' ~ quoted ~ ') as ' ~ quoted
        if is_first and name not in ('_batch', '_file', '_block_start') else quoted }},
    {%- endfor %}
    {{ '_raw_line' if keeps_text else 'if(_reason is null, null, _raw_line) as _raw_line' }},
    {{ 'if(' ~ is_left ~ ', null, ' ~ blank ~ ')' if is_first else blank }} as _is_blank,
    {{ line_id }} as _line_id
  from {{ lines }}
{%- endmacro %}

{# What Spark counts in the lines of an input, by batch. #}
{% macro read_line_counts(input, pending) %}
  {%- set query -%}
    select
      _batch as batch
      {%- for name, count in versioned_collapsing._get_line_counts(input).items() %},
      {{ count }} as {{ name }}
      {%- endfor %}
    from {{ input.parsed or input.relation }}
    where _batch in ({{ pending | join(', ') }})
    group by _batch
  {%- endset -%}
  {%- set found = {} -%}
  {%- for row in run_query(query).rows -%}
    {%- do found.update({row['batch'] | int: row}) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# Aggregates over the lines of an input, by name. Each kind of line has a condition of its own, so a line that is of no
   kind shows in the sum. #}
{% macro _get_line_counts(input) %}
  {%- set conditions = versioned_collapsing.get_line_conditions(
      input.columns + (['_is_blank'] if input.parsed else [])
  ) -%}
  {%- set counts = {'lines': 'count(_is_blank)' if input.parsed else 'count(*)'} -%}
  {%- for name, condition in conditions.items() -%}
    {%- do counts.update({name: 'count_if(' ~ condition ~ ')' if condition else 'cast(null as bigint)'}) -%}
  {%- endfor -%}
  {%- if '_is_deleted' in input.columns and conditions['events'] -%}
    {%- do counts.update({'rows': 'count_if(' ~ conditions['events'] ~ ' and not coalesce(_is_deleted, false)' ~ (
        ' and not _is_truncate' if '_is_truncate' in input.columns else ''
    ) ~ ')'}) -%}
  {%- endif -%}
  {%- if input.is_parsed_here -%}
    {%- set has_no_other_form = versioned_collapsing.get_has_no_other_form_sql(
        versioned_collapsing.get_json_line_sql('_raw_line')
    ) -%}
    {%- do counts.update({
        'lines_left': 'count_if(_is_blank is null)',
        'other_forms': 'count_if(_is_blank is null and not coalesce(' ~ has_no_other_form ~ ', false))',
    }) -%}
  {%- endif -%}
  {%- if '_table' in input.columns -%}
    {%- do counts.update({
        'tables': versioned_collapsing._get_distinct_texts_sql('if(_reason is null, _table, null)')
    }) -%}
  {%- endif -%}
  {%- if '_ignored' in input.columns -%}
    {%- do counts.update({
        'others': versioned_collapsing._get_distinct_texts_sql("if(_ignored like 'table %', substr(_ignored, 7), null)")
    }) -%}
  {%- endif -%}
  {%- if '_event_ms' in input.columns -%}
    {%- do counts.update(versioned_collapsing._get_positions(input.get('seen', {}))) -%}
  {%- endif -%}
  {%- if '_first_lsn' in input.columns -%}
    {%- do counts.update({'first_lsn': 'min(_first_lsn)'}) -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}

{% macro _get_distinct_texts_sql(text) %}
  {%- do return('array_join(array_sort(collect_set(' ~ text ~ ")), ', ')") -%}
{% endmacro %}

{# For each batch, of the events with a time: the lowest position of those that are newer than all before this run, the
   highest position, the newest time, and their number. #}
{% macro _get_positions(seen) %}
  {%- set is_timed = '_reason is null and _event_ms is not null' -%}
  {%- set is_newer = is_timed ~ (' and _event_ms > ' ~ seen.newest if seen.newest else '') -%}
  {%- do return({
      'lowest': 'min(if(' ~ is_newer ~ ', _version, null))',
      'highest': 'max(if(' ~ is_timed ~ ', _version, null))',
      'newest': 'max(if(' ~ is_timed ~ ', _event_ms, null))',
      'timed': 'count_if(' ~ is_timed ~ ')',
  }) -%}
{% endmacro %}

{# Whether a table of the last build may be emptied and filled again: it was made by the same definition, according to
   `kept`, a row of its manifest. Not in a run on a part, which parses no lines; not with a contract, which is checked
   only when a table is created; not for the result of a Python model, whose columns are not known before. #}
{% macro can_stay(model, table, kept, definition) %}
  {%- do return(
      adapter.empty_table is defined
      and kept != [] and definition and kept[0]['definition'] == definition
      and not versioned_collapsing.is_partial_run()
      and (model.config.file_format or 'parquet') == 'parquet'
      and not (model.config.contract and model.config.contract.enforced)
      and (model.language == 'sql' or table.identifier != model.alias)
  ) -%}
{% endmacro %}

{# Fills a table that was emptied. Returns what Spark counted meanwhile. None if the table must be created: it was not
   emptied, or the query has other columns and the table was dropped. #}
{% macro refill(table, emptied, query, counts={}) %}
  {%- if table.identifier not in emptied -%}{%- do return(none) -%}{%- endif -%}
  {%- set counted = adapter.refill(table.schema, table.identifier, query, counts) -%}
  {%- if counted is none -%}
    {%- call statement('drop') -%}
      drop table if exists {{ table }} purge
    {%- endcall -%}
  {%- endif -%}
  {%- do return(counted) -%}
{% endmacro %}

{# Where the SQL of a change set reads the lines of a staging model, and the condition on which it takes a line. Parsing
   costs most of the time, so the materialization parses the lines of this run once, into a table. The staging model
   itself is read if it does not parse lines, in a run on a part (--empty, --sample), and in a unit test, which has no
   `this`. #}
{% macro read_where_lines_are(events, columns) %}
  {%- if this is not none
      and model.config.materialized == 'change_set'
      and versioned_collapsing._has_parsed_lines(columns)
      and versioned_collapsing._read_is_view(events) -%}
    {%- set table = versioned_collapsing.get_parsed_lines_relation(this, events) -%}
    {%- do return({'relation': table, 'is_pending': '_is_blank is not null', 'is_parsed': true}) -%}
  {%- endif -%}
  {%- do return({
      'relation': events, 'is_pending': versioned_collapsing.is_pending('_batch'), 'is_parsed': false,
  }) -%}
{% endmacro %}

{# Whether a run keeps the lines of an input with these columns in a table. #}
{% macro _has_parsed_lines(columns) %}
  {%- set needed = ['_batch', '_file', '_block_start', '_raw_line', '_reason', '_version'] -%}
  {%- do return(needed | reject('in', columns) | list == [] and not versioned_collapsing.is_partial_run()) -%}
{% endmacro %}

{% macro _read_is_view(relation) %}
  {%- set found = adapter.get_relation(relation.database, relation.schema, relation.identifier) -%}
  {%- do return(found is not none and found.is_view) -%}
{% endmacro %}
