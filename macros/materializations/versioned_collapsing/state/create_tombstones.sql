{# Makes the table, or makes one that exists forget as the option says.
   `max` as the aggregate takes any type that a version may have; ReplacingMergeTree does not. #}
{% macro create_tombstones(target, options, columns) %}
  {%- if not options.remember_deletes -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set version = columns.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- set uuid = versioned_collapsing.read_uuid(target) -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target) -%}
  {% call statement('create_tombstones') -%}
    create table if not exists {{ tombstones }} {{ on_cluster_clause(target) }} (
      {%- for column in columns.table if column.name in options.unique_key %}
      {{ adapter.quote(column.name) }} {{ column.type }},
      {%- endfor %}
      {{ adapter.quote(version.name) }} SimpleAggregateFunction(max, {{ version.type }}),
      _remembered_at SimpleAggregateFunction(max, DateTime('UTC')) default now()
    )
    engine = AggregatingMergeTree
    order by ({{ get_quoted_csv(options.unique_key) }})
    {%- if options.remember_deletes is not boolean %}
    ttl _remembered_at + {{ versioned_collapsing.get_interval_sql(options.remember_deletes) }}
    {%- endif %}
    {{ versioned_collapsing.get_settings_sql() }}
    comment {{ versioned_collapsing.quote_literal(versioned_collapsing._get_tombstones_comment(uuid)) }}
  {%- endcall %}
  {%- do versioned_collapsing.adapt_tombstones_ttl(tombstones, options) -%}
{% endmacro %}
