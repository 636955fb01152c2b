{# The counts of the lines of the batches that a run takes. First checks that all lines are there. A run with --empty or
   --sample gets no counts, because its manifest says that the change set is a part. #}
{% macro read_counts(model, inputs, taken, known={}, is_first=false) %}
  {%- if not taken or versioned_collapsing.is_partial_run() -%}{%- do return({}) -%}{%- endif -%}
  {%- if model.depends_on.macros | select('equalto', 'macro.versioned_collapsing.quarantined_lines') | list -%}
    {# The lines of a quarantine are counted elsewhere, so it has no counts of its own. #}
    {%- set inputs = inputs | rejectattr('is_view') | list -%}
    {%- do versioned_collapsing.count_lines(inputs, taken) -%}
    {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.count_lines(inputs, taken, known) -%}
  {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
  {%- do versioned_collapsing.log_other_tables(model, inputs) -%}
  {%- do versioned_collapsing.validate_usable_lines(model, inputs, counts, is_first) -%}
  {%- do versioned_collapsing.report_unusable_lines(model, inputs, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# Names the tables whose events are left out. #}
{% macro log_other_tables(model, inputs) %}
  {%- for input in inputs if input.get('others') -%}
    {%- do log(
        model.name ~ ': events of other tables are left out: ' ~ input.others | unique | join(', '), info=true
    ) -%}
  {%- endfor -%}
{% endmacro %}


{# Why the events that were counted cannot be those of one table on one server. `known` is what the change set had seen
   before. #}
{% macro get_stray_event_problems(inputs, known) %}
  {%- set problems = [] -%}
  {%- for input in inputs -%}
    {%- set tables = (known.get(input.name, {}).get('tables', []) + input.get('tables', [])) | unique | list -%}
    {%- if tables | length > 1 -%}
      {%- do problems.append(
          'the events of ' ~ input.name ~ ' are of several tables: ' ~ tables | join(', ')
          ~ '. Nothing was written. Name the table of this model in parse_debezium: table=\'' ~ tables[0]
          ~ '\'. The events of other tables are then left out and counted.'
      ) -%}
    {%- endif -%}
    {%- set batch = versioned_collapsing._get_lower_batch(input, known.get(input.name, {})) -%}
    {%- if batch is not none -%}
      {%- do problems.append(
          'most events of batch ' ~ batch ~ ' of ' ~ input.name ~ ' are newer than those before, but their positions '
          ~ 'are lower: they would be stale. Nothing was written. If the source has moved to another server or was '
          ~ 'restored, let an epoch begin with this batch, in parse_debezium: epochs=[' ~ batch ~ ']. If not, take '
          ~ 'them as they are: dbt run --vars \'{accept_lower_positions: true}\''
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro validate_no_stray_events(model, stray) %}
  {%- do versioned_collapsing.raise_problems(model.unique_id, stray, 'a change_set') -%}
{% endmacro %}


{# The first batch of which most events are newer than all before and have lower positions: the source has moved to
   another server or was restored, and the table would stand still. #}
{% macro _get_lower_batch(input, known) %}
  {%- set before = dict(known) -%}
  {%- if '_event_ms' in input.columns and not var('accept_lower_positions', false) -%}
    {%- for batch in input.get('found', {}) | sort -%}
      {%- set row = input.found[batch] -%}
      {%- if row.lower | int > row.timed | int / 2 or (
          row.highest is not none and before.get('highest') and row.highest < before.highest
          and row.oldest | int > before.newest | int
      ) -%}
        {%- do return(batch) -%}
      {%- elif row.highest is not none -%}
        {%- do before.update(versioned_collapsing._get_highest(before, row)) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}


{% macro _get_highest(before, row) %}
  {%- do return({
      'highest': [before.get('highest') or '', row.highest] | max,
      'newest': [before.get('newest') or 0, row.newest | int] | max,
  }) -%}
{% endmacro %}


{# What a change set had seen of each input when it was built last: tables, the highest position and the newest time. It
   is asked only if there are events of Debezium. #}
{% macro read_seen(manifest, inputs) %}
  {%- set is_needed = [] -%}
  {%- for input in inputs if '_table' in input.columns or '_event_ms' in input.columns -%}
    {%- do is_needed.append(input.name) -%}
  {%- endfor -%}
  {%- if is_needed and adapter.get_relation(manifest.database, manifest.schema, manifest.identifier) is not none -%}
    {%- for row in run_query('select * from ' ~ manifest ~ ' limit 1').rows -%}
      {%- do return(fromjson(row.get('seen') or '{}')) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return({}) -%}
{% endmacro %}


{# The same as JSON, with what was seen in this run. #}
{% macro get_seen(inputs, known) %}
  {%- set seen = {} -%}
  {%- for input in inputs -%}
    {%- set before = dict(known.get(input.name, {})) -%}
    {%- do before.update({'tables': (before.get('tables', []) + input.get('tables', [])) | unique | list}) -%}
    {%- for row in input.get('found', {}).values() if row.get('highest') is not none -%}
      {%- do before.update(versioned_collapsing._get_highest(before, row)) -%}
    {%- endfor -%}
    {%- do seen.update({input.name: before}) -%}
  {%- endfor -%}
  {%- do return(tojson(seen)) -%}
{% endmacro %}
