{# Makes sure that the ledger exists, with all its columns. #}
{% macro prepare_ledger(target_relation) %}
  {%- set found = versioned_collapsing.read_ledger_columns(target_relation) -%}
  {%- if not found['_dbt_columns'] | int -%}
    {%- do versioned_collapsing._create_ledger(target_relation) -%}
  {%- elif found['_dbt_later_columns'] | int < versioned_collapsing.get_later_columns() | length -%}
    {%- do versioned_collapsing.add_later_columns(target_relation) -%}
  {%- endif -%}
{% endmacro %}


{% macro _create_ledger(target_relation) %}
  {%- set status = 'chunk staged, started, block applied, applied, adopted, repaired, filled (a view), or partial '
      ~ '(a run with --empty or --sample)' -%}
  {%- set definition = 'For a view: hash of its definition. With a journal: hashes of the views on the table. Also '
      ~ 'whether deletes were remembered' -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {% call statement('create_ledger') -%}
    create table if not exists {{ ledger }} {{ on_cluster_clause(target_relation) }} (
      model String comment 'Name of the model',
      target_uuid UUID comment 'UUID of the target table; a rebuilt table has a new one',
      invocation_id String comment 'ID of the dbt invocation',
      run_id String comment 'ID of one apply to one model',
      status LowCardinality(String) comment {{ versioned_collapsing.quote_literal(status) }},
      at DateTime64(6, 'UTC') comment 'When the row was written',
      batches Array(Tuple(batch UInt64, hash String)) comment 'Batches of the landing zone that the change set held',
      {%- for name, description in versioned_collapsing.get_later_columns().items() %}
      {{ name }} {{ description }},
      {%- endfor %}
      rows_read UInt64 comment 'Rows of the change set',
      keys UInt64 comment 'Keys of the change set',
      states UInt64 comment 'State rows written',
      cancels UInt64 comment 'Cancel rows written',
      deletes UInt64 comment 'Deletes applied',
      duplicates UInt64 comment 'Changes that repeat a change',
      stale UInt64 comment 'Changes below the version of the live row',
      unmerged UInt64 comment 'Partial changes that could not be combined: stale, or of a key that does not exist',
      conflicts UInt64 comment 'Changes at the version of the live row with a different payload',
      tombstoned UInt64 comment 'Changes at or below the version at which their key was deleted',
      repaired UInt64 comment 'Torn keys that were repaired',
      milliseconds UInt64 comment 'Milliseconds from the start of the model to this row',
      publish LowCardinality(String) comment 'How rows are published: atomic, journal, stream; not known yet: empty',
      block UInt32 comment 'With a journal: number of the next block',
      chunk UInt32 comment 'Chunk that this row describes',
      chunks UInt32 comment 'Number of chunks of the apply',
      is_partial Bool comment 'Whether the run used --empty or --sample',
      truncated_at String comment 'Version at which the table was truncated; empty if it was not',
      source_uuid UUID comment 'For a view: UUID of the table that it follows',
      definition String comment {{ versioned_collapsing.quote_literal(definition) }}
    )
    engine = {{ versioned_collapsing.get_engine_name(ledger, 'MergeTree') }}
    order by (model, at)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}
