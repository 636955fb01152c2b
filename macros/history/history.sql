{# What the macros of the history must know of a table, with names as SQL:

   - relation, ledger, uuid: the table, its ledger, its UUID now
   - changes: its change feed; feed: the same, or where there is none, what has its columns and no rows
   - all: the columns of the feed, but its own
   - names: the columns that `select *` returns of the table, without the sign; plain_names: the same as a list
   - sign, key, version

   What callers do not name is that of the table's model. `has_lives`: whether the caller asks when states were true.
   None while dbt parses, and where there is no table yet. #}
{% macro read_history(caller_name, relation, has_lives=false, sign=none, unique_key=none, version_column=none) %}
  {%- if not execute -%}{%- do return(none) -%}{%- endif -%}
  {%- set table = api.Relation.create(schema=relation.schema, identifier=relation.identifier) -%}
  {%- set changes = versioned_collapsing.get_changes_relation(table) -%}
  {%- set described = versioned_collapsing.read_feed_columns(table, changes) -%}
  {%- if not described.table -%}{%- do return(none) -%}{%- endif -%}
  {%- set options = versioned_collapsing._get_options_of(table) -%}
  {%- set named = {
      'sign': sign or options.get('sign', '_sign'),
      'unique_key': versioned_collapsing.as_list(unique_key or options.get('unique_key')),
      'version_column': version_column or options.get('version', '_version'),
  } -%}
  {%- if has_lives -%}
    {%- do versioned_collapsing.validate_named_columns(caller_name, table, described.table, named) -%}
    {%- do versioned_collapsing.validate_has_lives(caller_name, table, options) -%}
  {%- endif -%}
  {%- set all = described.table | map(attribute='name') | list -%}
  {%- set names = described.table | selectattr('default_kind', 'in', ['', 'DEFAULT']) | map(attribute='name')
      | reject('equalto', named.sign) | list -%}
  {%- do return({
      'relation': table,
      'ledger': versioned_collapsing.get_ledger_relation(table),
      'uuid': versioned_collapsing.get_table_uuid_sql(table),
      'changes': changes,
      'feed': changes if described.feed else versioned_collapsing._get_empty_feed_sql(table, all),
      'all': versioned_collapsing.quote_names(all),
      'names': versioned_collapsing.quote_names(names),
      'plain_names': names,
      'sign': versioned_collapsing.quote_name(named.sign),
      'key': versioned_collapsing.quote_names(named.unique_key),
      'version': versioned_collapsing.quote_name(named.version_column),
  }) -%}
{% endmacro %}


{# What stands for rows of the history while there is no table: live rows, as they would be. #}
{% macro get_no_history_sql(relation, sign) %}
  {%- set named = sign or (versioned_collapsing._get_options_of(relation) if execute else {}).get('sign', '_sign') -%}
  {%- do return('(select * from ' ~ relation ~ ' final where ' ~ versioned_collapsing.quote_name(named) ~ ' = 1)') -%}
{% endmacro %}


{# The options of the model that builds a table; empty where no model of the project does. #}
{% macro _get_options_of(relation) %}
  {%- for node in graph.nodes.values()
      if node.config.materialized == 'versioned_collapsing'
        and node.schema == relation.schema and node.alias == relation.identifier -%}
    {%- do return(versioned_collapsing.get_versioned_collapsing_options(node.config, node)) -%}
  {%- endfor -%}
  {%- do return({}) -%}
{% endmacro %}


{% macro _get_empty_feed_sql(relation, names) -%}
  (
    select
      {{ versioned_collapsing.quote_names(names) }},
      toUInt64(0) as _apply,
      toDateTime64(0, 6, 'UTC') as _applied_at,
      toUInt64(0) as _changed_version
    from {{ relation }}
    where false
  )
{%- endmacro %}
