{# Appends a row to the ledger. A run on a part of the change set (--empty, --sample) applies no batch. #}
{% macro record_run(target, run, status, counts) %}
    {%- set line_counts = run.line_counts or {} -%}
    {%- set elapsed = modules.datetime.datetime.now(modules.pytz.utc) - run.started_at -%}
    {% call statement('record_run') -%}
      insert into {{ versioned_collapsing.get_ledger_relation(target) }}
        (model, target_uuid, invocation_id, run_id, status, at, batches,
            {{ (versioned_collapsing.get_line_count_names() + versioned_collapsing.get_count_names()) | join(', ') }},
            milliseconds, publish, block, chunk, chunks, is_partial, truncated_at, source_uuid, definition)
      select
        {{ versioned_collapsing.quote_literal(run.model) }}, {{ versioned_collapsing.get_table_uuid_sql(target) }},
            {{ versioned_collapsing.quote_literals([invocation_id, run.run_id]) }},
        {{ versioned_collapsing.quote_literal('partial' if run.is_partial and status == 'applied' else status) }},
            now64(6, 'UTC'),
        {{ versioned_collapsing._get_batches_sql(run.batches) }},
        {% for name in versioned_collapsing.get_line_count_names() %}{{ 'null' if line_counts.get(name) is none
            else line_counts[name] | int }}, {% endfor %}
        {% for name in versioned_collapsing.get_count_names() %}{{ counts.get(name, 0) }}, {% endfor %}
        {{ (elapsed.total_seconds() * 1000) | int }},
        {{ versioned_collapsing.quote_literal('stream' if run.is_stream else 'journal' if run.is_journal
            else 'direct') }}, {{ run.block }}, {{ run.chunk }}, {{ run.chunks }}, {{ run.is_partial }},
        {{ 'toString(' ~ run.truncated_at ~ ')' if run.truncated_at else "''" }},
        {{ versioned_collapsing.get_table_uuid_sql(run.source) if run.source
            else "toUUID('00000000-0000-0000-0000-000000000000')" }},
        {{ versioned_collapsing.quote_literal((run.definition or '') ~ (' remembers_deletes' if run.remembers_deletes
            else '')) }}
      {{ versioned_collapsing.get_settings_sql() }}
    {%- endcall %}
{% endmacro %}


{% macro _get_batches_sql(batches) %}
  {%- set tuples = [] -%}
  {%- for batch, hash in batches -%}
    {%- do tuples.append('(' ~ batch ~ ', ' ~ versioned_collapsing.quote_literal(hash) ~ ')') -%}
  {%- endfor -%}
  {%- do return("cast([" ~ tuples | join(', ') ~ "], 'Array(Tuple(batch UInt64, hash String))')") -%}
{% endmacro %}
