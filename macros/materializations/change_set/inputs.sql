{# The lines of the batches that a run takes, after a look at whether they are all there. A change set that is made of
   a part says so itself. #}
{% macro read_counts(model, landed, taken) %}
  {%- if not taken or versioned_collapsing.is_partial_run() -%}{%- do return({}) -%}{%- endif -%}
  {%- do versioned_collapsing.validate_whole_views(model, landed, taken) -%}
  {%- set inputs = versioned_collapsing.read_inputs(model) -%}
  {%- if model.depends_on.macros | select('equalto', 'macro.versioned_collapsing.quarantined_lines') | list -%}
    {# It is the lines that are counted otherwise. #}
    {%- set inputs = inputs | rejectattr('is_view') | list -%}
    {%- set counts = versioned_collapsing.count_lines(inputs, taken) -%}
    {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.count_lines(inputs, taken) -%}
  {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
  {%- do versioned_collapsing.report_unusable_lines(model, inputs, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# What a change set reads: the models of Spark from which it selects, each with its columns, the locations that it
   reads, and whether all between it and them are views. A model without `_batch` is passed over. #}
{% macro read_inputs(model) %}
  {%- set inputs = [] -%}
  {%- for unique_id in versioned_collapsing._get_built_upstream(model.depends_on.nodes, is_far=false) -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set relation = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- set columns = adapter.get_columns_in_relation(relation) | map(attribute='name') | list if relation is not none else [] -%}
    {%- if '_batch' in columns -%}
      {%- set kinds = [] -%}
      {%- for other in [unique_id] + versioned_collapsing._get_built_upstream(node.depends_on.nodes) -%}
        {%- do kinds.append(graph.nodes[other].config.materialized) -%}
      {%- endfor -%}
      {%- do inputs.append({
          'name': node.name,
          'relation': relation,
          'columns': columns,
          'sources': versioned_collapsing.get_file_sources(node),
          'is_view': kinds | reject('in', ['view', 'seed']) | list | length == 0,
      }) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(inputs) -%}
{% endmacro %}


{# The models from which nodes descend that are in the database, near and far; what an ephemeral model reads counts as
   its reader's. #}
{% macro _get_built_upstream(unique_ids, is_far=true) %}
  {%- set found = [] -%}
  {%- for unique_id in unique_ids if unique_id in graph.nodes -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set is_ephemeral = node.config.materialized == 'ephemeral' -%}
    {%- if not is_ephemeral -%}
      {%- do found.append(unique_id) -%}
    {%- endif -%}
    {%- if is_far or is_ephemeral -%}
      {%- do found.extend(versioned_collapsing._get_built_upstream(node.depends_on.nodes, is_far)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found | unique | list) -%}
{% endmacro %}


{# A view that a run with --empty or --sample made reads a part for as long as it is there; one that was made before
   the first batch landed reads nothing. A change set made of it would mark batches as applied that nobody has read. #}
{% macro validate_whole_views(model, landed, taken) %}
  {%- set problems = [] -%}
  {%- set locations = [] -%}
  {%- for batch in taken -%}
    {%- do locations.extend(landed[batch].locations) -%}
  {%- endfor -%}
  {%- for unique_id in versioned_collapsing._get_built_upstream(model.depends_on.nodes) -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set relation = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- if relation is not none and relation.is_view -%}
      {%- set text = versioned_collapsing._read_view_text(relation) -%}
      {%- if versioned_collapsing.is_text_of_part(text) -%}
        {%- do problems.append(relation ~ ' was built by a run with --empty or --sample, and reads only a part') -%}
      {%- endif -%}
      {%- for location in locations | unique if versioned_collapsing.get_empty_landing_mark(location) in text -%}
        {%- do problems.append(relation ~ ' was built before the first batch landed in ' ~ location) -%}
      {%- endfor -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_unwhole(model, problems) -%}
{% endmacro %}


{% macro raise_unwhole(model, problems) %}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " would lack rows of the batches that it takes:\n  - " ~ problems | join('\n  - ')
        ~ "\nBuild these with it: dbt run --select +" ~ model.name ~ '+'
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro _read_view_text(relation) %}
  {%- for row in run_query('describe table extended ' ~ relation).rows if row[0] == 'View Text' -%}
    {%- do return(row[1] | string) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}


{# How dbt writes what it reads of an input: with --empty nothing, with --sample a span of time. #}
{% macro is_text_of_part(text) %}
  {%- set span = "\\S+ >= '\\d{4}-\\d\\d-\\d\\d[ T][^']*' and \\S+ < '\\d{4}-\\d\\d-\\d\\d[ T][^']*'" -%}
  {%- do return(modules.re.search('\\(select \\* from (`[^`]*`|[^()`])+ where (false limit 0|' ~ span ~ ')\\)', text) is not none) -%}
{% endmacro %}


{# What a view says that was made before a first batch landed. #}
{% macro get_empty_landing_mark(location) %}
  {%- do return(versioned_collapsing.quote_literal('no batch had landed in ' ~ location)) -%}
{% endmacro %}


{# The lines of each batch in the inputs: all, those that say nothing, those that cannot be used, messages that are
   passed over, and events. Each is counted by what it is, so that a line that is none of these shows. None for what an
   input does not tell. #}
{% macro count_lines(inputs, taken) %}
  {%- set counts = {} -%}
  {%- for input in inputs -%}
    {%- set conditions = versioned_collapsing._get_line_conditions(input.columns) -%}
    {%- set query -%}
      select
        _batch as batch,
        count(*) as lines
        {%- for name, condition in conditions.items() %},
        {{ 'count_if(' ~ condition ~ ')' if condition else 'cast(null as bigint)' }} as {{ name }}
        {%- endfor %}
      from {{ input.relation }}
      where _batch in ({{ taken | join(', ') }})
      group by _batch
    {%- endset -%}
    {%- set found = {} -%}
    {%- for row in run_query(query).rows -%}
      {%- do found.update({row['batch'] | int: row}) -%}
    {%- endfor -%}
    {%- do input.update({'lines': {}}) -%}
    {%- for batch in taken -%}
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


{# The condition by which lines are counted under each name; none where the columns do not tell. The text is looked at
   where nothing else is known of a line. #}
{% macro _get_line_conditions(columns) %}
  {%- set has_reasons = '_reason' in columns and '_version' in columns -%}
  {%- set is_message = '_passed_over is not null' if '_passed_over' in columns else 'false' -%}
  {%- do return({
      'blank': '_reason is null and _version is null and not ' ~ is_message ~ ' and '
          ~ versioned_collapsing.get_says_nothing_sql('_raw_line') if has_reasons and '_raw_line' in columns else none,
      'quarantined': '_reason is not null' if has_reasons else none,
      'passed_over': '_reason is null and ' ~ is_message if has_reasons else none,
      'events': '_reason is null and _version is not null' if has_reasons else none,
  }) -%}
{% endmacro %}


{# A table says nothing of how it was built: it is compared with the files. One that keeps every line has as many as
   they have, any other at least some. #}
{% macro validate_whole_tables(model, inputs, taken) %}
  {%- set problems = [] -%}
  {%- for input in inputs if not input.is_view -%}
    {%- set landed = versioned_collapsing._count_landed_lines(input.sources, taken) -%}
    {%- if '_raw_line' in input.columns -%}
      {%- for batch in taken if input.lines[batch] != landed.get(batch, 0) -%}
        {%- do problems.append(
            input.relation ~ ' has ' ~ input.lines[batch] ~ ' of the ' ~ landed.get(batch, 0) ~ ' lines of batch ' ~ batch
        ) -%}
      {%- endfor -%}
    {%- elif landed.values() | sum and not input.lines.values() | sum -%}
      {%- do problems.append(input.relation ~ ' has no row of ' ~ versioned_collapsing.get_batches_text(taken)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_unwhole(model, problems[:10]) -%}
{% endmacro %}


{% macro _count_landed_lines(sources, taken) %}
  {%- set counts = {} -%}
  {%- for source in sources if versioned_collapsing.read_location(source.location) -%}
    {%- set query -%}
      select cast(batch as bigint) as batch, count(*) as lines
      from {{ source.file_format }}.`{{ source.location | replace('`', '``') }}`
      where cast(batch as bigint) in ({{ taken | join(', ') }})
      group by batch
    {%- endset -%}
    {%- for row in run_query(query).rows -%}
      {%- do counts.update({row['batch'] | int: counts.get(row['batch'] | int, 0) + row['lines'] | int}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}


{# Lines that cannot be used are left out, quarantine or not: the run says so. #}
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
          'select _batch, _reason, count(*) from ' ~ input.relation ~ ' where _reason is not null and _batch in (' ~ batches[:100] | join(', ') ~ ') group by all'
      ) -%}
    {%- endfor -%}
    {%- set lines = counts.values() | sum(attribute='lines') -%}
    {%- do exceptions.warn(
        model.name ~ ': ' ~ unusable ~ ' of ' ~ lines ~ (' line' if lines == 1 else ' lines') ~ ' cannot be used and '
        ~ ('is' if unusable == 1 else 'are') ~ ' left out, in ' ~ versioned_collapsing.get_batches_text(batches)
        ~ '. Why: ' ~ queries | join('; ') ~ '. A model of quarantined_lines keeps them.'
    ) -%}
  {%- endif -%}
{% endmacro %}
