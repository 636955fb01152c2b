{# Appends a row to the ledger. A run on a part of the change set (--empty, --sample) applies no batch. A view has a row
   for each table that it reads, in the ledger of that table. #}
{% macro record_apply(target_relation, apply, progress, status, followed_relation=none) %}
  {% call statement('record_apply') -%}
    {{ versioned_collapsing._get_record_sql(target_relation, apply, progress, status, followed_relation) }}
  {%- endcall %}
{% endmacro %}


{% macro _get_record_sql(target_relation, apply, progress, status, followed_relation) -%}
  {%- set line_names = versioned_collapsing.get_line_count_names() -%}
  {%- set names = versioned_collapsing.get_count_names() -%}
  {%- set elapsed = modules.datetime.datetime.now(modules.pytz.utc) - apply.started_at -%}
  {%- set way = 'stream' if apply.is_stream else 'journal' if progress.is_journal else 'atomic' -%}
  {%- set definition = progress.definition ~ (' remembers_deletes' if apply.remembers_deletes else '') -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(followed_relation or target_relation) -%}
  {%- set model = versioned_collapsing.quote_literal(apply.model) -%}
  insert into {{ ledger }} (
    model, target_uuid, invocation_id, run_id, status, at, batches,
    {{ (line_names + names) | join(', ') }},
    milliseconds, publish, block, chunk, chunks, is_partial, truncated_at, source_uuid, definition,
    apply, landed_at, taken_at, change_set, watermarks, signed_rows
  )
  select
    {{ model }},
    {{ versioned_collapsing.get_table_uuid_sql(target_relation) }},
    {{ versioned_collapsing.quote_literals([invocation_id, apply.run_id]) }},
    {{ versioned_collapsing.quote_literal('partial' if apply.is_partial and status == 'applied' else status) }},
    {{ versioned_collapsing.get_later_time_sql(ledger, 'at', 'model = ' ~ model) }},
    {{ versioned_collapsing._get_batches_sql(apply.batches) }},
    {%- for name in line_names %}
    {{ 'null' if progress.line_counts.get(name) is none else progress.line_counts[name] | int }},
    {%- endfor %}
    {%- for name in names %}
    {{ progress.counts.get(name, 0) }},
    {%- endfor %}
    {{ (elapsed.total_seconds() * 1000) | int }},
    {{ versioned_collapsing.quote_literal('' if status == 'chunk staged' else way) }},
    {{ progress.block }}, {{ progress.chunk }}, {{ apply.chunks }}, {{ apply.is_partial }},
    {{ 'toString(' ~ progress.truncated_at ~ ')' if progress.truncated_at else "''" }},
    {{ versioned_collapsing.get_table_uuid_sql(followed_relation) if followed_relation
        else "toUUID('00000000-0000-0000-0000-000000000000')" }},
    {{ versioned_collapsing.quote_literal(definition) }},
    {{ progress.number }},
    {{ versioned_collapsing._get_landed_at_sql(apply.landed_at) }},
    {{ 'null' if apply.taken_at is none else versioned_collapsing._get_point_in_time_sql(apply.taken_at) }},
    {{ versioned_collapsing.quote_literal(apply.change_set) }},
    {{ versioned_collapsing._get_watermarks_sql(apply.watermarks) }},
    {{ versioned_collapsing._get_signed_rows_sql(target_relation, apply, progress, status) }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro _get_signed_rows_sql(target_relation, apply, progress, status) %}
  {%- if status == 'started' -%}
    {%- do return(
        '(select count() from ' ~ versioned_collapsing.get_helper_relation(target_relation, 'signed') ~ ')'
    ) -%}
  {%- elif status == 'restored' -%}
    {%- do return('(select count() from ' ~ apply.feed_relation ~ ' where _apply = ' ~ progress.number ~ ')') -%}
  {%- endif -%}
  {%- do return(0) -%}
{% endmacro %}


{% macro _get_batches_sql(batches) %}
  {%- set tuples = [] -%}
  {%- for batch, hash in batches -%}
    {%- do tuples.append('(' ~ batch ~ ', ' ~ versioned_collapsing.quote_literal(hash) ~ ')') -%}
  {%- endfor -%}
  {%- do return("cast([" ~ tuples | join(', ') ~ "], 'Array(Tuple(batch UInt64, hash String))')") -%}
{% endmacro %}


{% macro _get_watermarks_sql(watermarks) %}
  {%- set tuples = [] -%}
  {%- for landing, uuid, watermark in watermarks -%}
    {%- do tuples.append('(' ~ versioned_collapsing.quote_literals([landing, uuid, watermark]) ~ ')') -%}
  {%- endfor -%}
  {%- do return(
      "cast([" ~ tuples | join(', ') ~ "], 'Array(Tuple(landing String, uuid UUID, watermark String))')"
  ) -%}
{% endmacro %}


{% macro _get_landed_at_sql(landed_at) %}
  {%- set times = [] -%}
  {%- for microseconds in landed_at -%}
    {%- do times.append(versioned_collapsing._get_point_in_time_sql(microseconds)) -%}
  {%- endfor -%}
  {%- do return("cast([" ~ times | join(', ') ~ "], 'Array(DateTime64(6, ''UTC''))')") -%}
{% endmacro %}


{% macro _get_point_in_time_sql(microseconds) %}
  {%- do return("fromUnixTimestamp64Micro(toInt64(" ~ microseconds ~ "), 'UTC')") -%}
{% endmacro %}
