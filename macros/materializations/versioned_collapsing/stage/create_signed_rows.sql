{# The table of the rows to write, each with the number of its block. #}
{% macro create_signed_rows(target_relation, options, columns) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- do run_query('drop table if exists ' ~ signed) -%}
  {% call statement('create_signed_rows') -%}
    create table {{ signed }} (
      {%- for column in columns.table %}
      {{ adapter.quote(column.name) }} {{ column.type }},
      {%- endfor %}
      {{ adapter.quote(options.sign) }} Int8,
      _dbt_block UInt32,
      _dbt_problem LowCardinality(String)
    )
    engine = MergeTree
    order by ({{ get_quoted_csv(['_dbt_block'] + options.unique_key + [options.version]) }})
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}
