{# Creates the table of the remembered deletes. If it exists (`found`), makes its rows expire as the option says. #}
{% macro prepare_tombstones(target_relation, options, columns, found) %}
  {%- if not options.remember_deletes -%}
    {%- do return(none) -%}
  {%- elif found is none -%}
    {%- set table = versioned_collapsing.read_tables([target_relation])[target_relation.identifier] -%}
    {% call statement('create_tombstones') -%}
      {{ versioned_collapsing._get_create_tombstones_sql(target_relation, options, columns, table.uuid) }}
    {%- endcall %}
  {%- else -%}
    {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
    {%- do versioned_collapsing._adapt_tombstones_ttl(tombstones, options, found.engine_full) -%}
  {%- endif -%}
{% endmacro %}


{# The aggregate function `max` takes any type that a version may have. ReplacingMergeTree does not. #}
{% macro _get_create_tombstones_sql(target_relation, options, columns, uuid) -%}
  {%- set version = columns.table | selectattr('name', 'equalto', options.version) | first -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  create table if not exists {{ tombstones }} {{ on_cluster_clause(target_relation) }} (
    {%- for column in columns.table if column.name in options.unique_key %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {{ adapter.quote(version.name) }} SimpleAggregateFunction(max, {{ version.type }}),
    _remembered_at SimpleAggregateFunction(max, DateTime('UTC')) default now()
  )
  engine = {{ versioned_collapsing.get_engine_name(tombstones, 'AggregatingMergeTree') }}
  order by ({{ get_quoted_csv(options.unique_key) }})
  {%- if options.remember_deletes is not boolean %}
  ttl _remembered_at + {{ versioned_collapsing.get_interval_sql(options.remember_deletes) }}
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql() }}
  comment {{ versioned_collapsing.quote_literal(versioned_collapsing._get_tombstones_comment(uuid)) }}
{%- endmacro %}
