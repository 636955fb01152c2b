{# If deletes of this table were remembered and are lost, a late change would bring deleted rows back. #}
{% macro validate_tombstones_are_there(target_relation, tables, options, ledger, apply, model) %}
  {%- set are_lost = options.remember_deletes and ledger.deletes and not tables.tombstones -%}
  {%- if are_lost and not var('forget_deletes', false) -%}
    {%- do versioned_collapsing.stop_run(apply,
        target_relation ~ " has had " ~ versioned_collapsing.format_count(ledger.deletes, 'delete') ~ ", but "
        ~ versioned_collapsing.get_tombstones_relation(target_relation)
        ~ ", which remembers deletes, does not exist. Late changes would bring deleted rows back. Restore it from a "
        ~ "backup, or rebuild the table: " ~ versioned_collapsing.get_rebuild_command(model) ~ ". To continue and "
        ~ "remember only deletes from now on: dbt run --select " ~ model.name ~ " --vars '{forget_deletes: true}'"
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Whether any delete is remembered. If none is, tombstones are not looked up. #}
{% macro has_tombstones(target_relation, options, apply) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- do return(options.remember_deletes and apply.staged[tombstones.identifier].row_count | int > 0) -%}
{% endmacro %}

{# The tombstones of the keys that change, or of all keys, without those that have expired. #}
{% macro get_tombstones_sql(target_relation, options, of_all_keys=false) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set interval = versioned_collapsing.get_interval_sql(options.remember_deletes) -%}
  select {{ key }}, max({{ adapter.quote(options.version) }}) as _dbt_deleted_at, true as _dbt_is_tombstone
  from {{ versioned_collapsing.get_tombstones_relation(target_relation) }}
  where {{ 'true' if of_all_keys else versioned_collapsing._get_key_lookup_sql(options.unique_key, '_dbt_input') }}
    {%- if options.remember_deletes is not boolean %}
    and _remembered_at > now() - {{ interval }}
    {%- endif %}
  group by {{ key }}
{%- endmacro %}

{# Compares keys by their first column and a hash: an IN over tuples costs more than reading the whole table. If
   two keys have the same hash, a row is read that is not needed, and no more. #}
{% macro _get_key_lookup_sql(unique_key, changes) -%}
  {%- set first = adapter.quote(unique_key[0]) -%}
  {%- set hash = 'cityHash64(' ~ get_quoted_csv(unique_key) ~ ')' -%}
  {{ first }} in (select {{ first }} from {{ changes }})
  {%- if unique_key | length > 1 %}
    and {{ hash }} in (select {{ hash }} from {{ changes }})
  {%- endif %}
{%- endmacro %}

{# Whether a change is below its key's tombstone, and whether it is the delete that the tombstone remembers. #}
{% macro get_tombstone_marks_sql(options) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- if options.delete_version == 'ignore' -%}
    ifNull(_dbt_is_tombstone and _dbt_deleted_at >= {{ version }} and not _dbt_is_deleted, false) as _dbt_is_tombstoned,
    false as _dbt_repeats_delete
  {%- else -%}
    ifNull(
      _dbt_is_tombstone
        and (_dbt_deleted_at > {{ version }} or (_dbt_deleted_at = {{ version }} and not _dbt_is_deleted)),
      false
    ) as _dbt_is_tombstoned,
    ifNull(_dbt_is_tombstone and _dbt_deleted_at = {{ version }} and _dbt_is_deleted, false) as _dbt_repeats_delete
  {%- endif -%}
{%- endmacro %}

{# ClickHouse stores a comment with each table. The comment of the tombstones' table has the UUID of the table whose
   deletes it holds. A full refresh exchanges the table, and then its tombstones. If it dies in between, the next run
   finds a UUID that does not match, and completes the exchange. #}
{% macro bind_tombstones(target_relation, tables, apply, model) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- set wanted = versioned_collapsing.get_tombstones_comment(tables.target.uuid) -%}
  {%- if tables.tombstones.comment == '' -%}
    {%- do versioned_collapsing.claim_tombstones(target_relation, tables.target.uuid) -%}
  {%- elif tables.build_tombstones and tables.build_tombstones.comment == wanted -%}
    {%- do log(
        'A full refresh of ' ~ target_relation ~ ' was interrupted before it replaced the tombstones. Replacing them',
        info=true
    ) -%}
    {%- set build = versioned_collapsing.get_helper_relation(target_relation, 'build') -%}
    {%- do versioned_collapsing.exchange_with(versioned_collapsing.get_tombstones_relation(build), tombstones) -%}
  {%- else -%}
    {%- set of_build = versioned_collapsing.get_tombstones_comment(tables.build.uuid if tables.build else '') -%}
    {%- set are_ours = tables.tombstones.comment == of_build -%}
    {%- do versioned_collapsing.validate_tombstones_are_ours(target_relation, are_ours, apply, model) -%}
    {%- do versioned_collapsing.drop_tables([tombstones]) -%}
  {%- endif -%}
{% endmacro %}

{% macro get_tombstones_comment(uuid) %}
  {%- do return('Deletes of the table ' ~ uuid) -%}
{% endmacro %}

{# Marks the tombstones beside a table as belonging to it. #}
{% macro claim_tombstones(target_relation, uuid) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- do versioned_collapsing.comment_table(tombstones, versioned_collapsing.get_tombstones_comment(uuid)) -%}
{% endmacro %}

{# Deletes of another table must not be taken for those of this one. #}
{% macro validate_tombstones_are_ours(target_relation, are_ours, apply, model) %}
  {%- if not are_ours -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing.get_tombstones_relation(target_relation) ~ " holds the deletes of another table, not of "
        ~ target_relation ~ ". If the table was restored or copied together with its deletes, adopt it: "
        ~ "dbt run-operation adopt_table --args '{model: " ~ model.name ~ "}'. Otherwise rebuild it: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Whether the tombstones beside a table, if there are any, are its own. #}
{% macro has_own_tombstones(tables) %}
  {%- set wanted = versioned_collapsing.get_tombstones_comment(tables.target.uuid) -%}
  {%- do return(not tables.tombstones or tables.tombstones.comment == wanted) -%}
{% endmacro %}

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
  {%- set version = versioned_collapsing.get_version_column(options, columns) -%}
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
  comment {{ versioned_collapsing.quote_literal(versioned_collapsing.get_tombstones_comment(uuid)) }}
{%- endmacro %}

{% macro _adapt_tombstones_ttl(tombstones, options, engine_full) %}
  {%- set interval = '' if options.remember_deletes is boolean
      else versioned_collapsing.get_interval_sql(options.remember_deletes) -%}
  {%- if not interval and ' TTL ' in engine_full -%}
    {%- do versioned_collapsing.alter_table(tombstones, 'remove ttl') -%}
  {%- elif interval not in engine_full -%}
    {%- do versioned_collapsing.alter_table(tombstones, 'modify ttl _remembered_at + ' ~ interval) -%}
  {%- endif -%}
{% endmacro %}
