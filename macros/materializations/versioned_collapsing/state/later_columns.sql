{# The columns that a ledger of an earlier version lacks. #}
{% macro get_later_columns() %}
  {%- do return({
      'lines': "Nullable(UInt64) comment 'Lines of the batches; null if the change set does not provide them'",
      'blank': "Nullable(UInt64) comment 'Lines that carry no information'",
      'quarantined': "Nullable(UInt64) comment 'Lines that cannot be used'",
      'passed_over': "Nullable(UInt64) comment 'Messages that are not changes'",
      'events': "Nullable(UInt64) comment 'Events to account for; null in rows without an account'",
      'superseded': "UInt64 comment 'Events below a later event of their key in the same change set'",
      'derived': "UInt64 comment 'Deletes that belong to no event: of an old key, of a row that an extract lacks, of a "
      ~ "truncated row'",
      'truncates': "UInt64 comment 'Truncates'",
      'apply': "UInt64 comment 'Number of the apply; grows with each that publishes rows. 0: nothing published. For a "
      ~ "view: number of the last apply that it has used'",
      'signed_rows': "UInt64 comment 'With the status started: rows that the apply publishes, and feeds'",
      'landed_at': "Array(DateTime64(6, 'UTC')) comment 'When the last file of each batch was written; empty if not "
      ~ "known'",
      'taken_at': "Nullable(DateTime64(6, 'UTC')) comment 'When Spark began to make the change set'",
      'change_set': "String comment 'ID of the change set, which it has from its build; empty if it has none'",
      'watermarks': "Array(Tuple(landing String, uuid UUID, watermark String)) comment 'How far the landing tables "
      ~ "were read; times in UTC'",
  }) -%}
{% endmacro %}


{# How many columns the ledger has, and how many of them are later columns. #}
{% macro read_ledger_columns(target_relation) %}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- set query -%}
    select
      count() as _dbt_columns,
      countIf(name in ({{ versioned_collapsing.quote_literals(versioned_collapsing.get_later_columns()) }}))
        as _dbt_later_columns
    from system.columns
    where {{ versioned_collapsing.get_is_table_sql(ledger, 'table') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]) -%}
{% endmacro %}


{% macro add_later_columns(target_relation) %}
  {% call statement('add_later_columns') -%}
    alter table {{ versioned_collapsing.get_ledger_relation(target_relation) }} {{ on_cluster_clause(target_relation) }}
    {%- for name, definition in versioned_collapsing.get_later_columns().items() %}
    add column if not exists {{ name }} {{ definition }}{{ ',' if not loop.last }}
    {%- endfor %}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}
