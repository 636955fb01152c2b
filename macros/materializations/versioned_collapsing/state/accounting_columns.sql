{# The columns that account for lines and events; a ledger of an earlier version lacks them. #}
{% macro get_accounting_columns() %}
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
  }) -%}
{% endmacro %}


{% macro add_accounting_columns(target_relation) %}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- set columns = versioned_collapsing.get_accounting_columns() -%}
  {%- set query -%}
    select count() as _dbt_n
    from system.columns
    where {{ versioned_collapsing.get_is_table_sql(ledger, 'table') }}
      and name in ({{ versioned_collapsing.quote_literals(columns) }})
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- if run_query(query).rows[0]['_dbt_n'] | int < columns | length -%}
    {% call statement('add_accounting_columns') -%}
      alter table {{ ledger }} {{ on_cluster_clause(target_relation) }}
      {%- for name, definition in columns.items() %}
      add column if not exists {{ name }} {{ definition }}{{ ',' if not loop.last }}
      {%- endfor %}
      {{ versioned_collapsing.get_settings_sql() }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}
