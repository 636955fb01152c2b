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
  where {{ 'true' if of_all_keys else versioned_collapsing._get_key_lookup_sql(options.unique_key, '_dbt_changes') }}
    {%- if options.remember_deletes is not boolean %}
    and _remembered_at > now() - {{ interval }}
    {%- endif %}
  group by {{ key }}
{%- endmacro %}


{# Whether a change is below its key's tombstone, and whether it is the delete that the tombstone remembers. #}
{% macro get_tombstone_marks_sql(options) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- if options.delete_version == 'ignore' -%}
    ifNull(_dbt_is_tombstone and _dbt_deleted_at >= {{ version }} and not _dbt_is_deleted, false) as _dbt_is_below,
    false as _dbt_is_same
  {%- else -%}
    ifNull(
      _dbt_is_tombstone
        and (_dbt_deleted_at > {{ version }} or (_dbt_deleted_at = {{ version }} and not _dbt_is_deleted)),
      false
    ) as _dbt_is_below,
    ifNull(_dbt_is_tombstone and _dbt_deleted_at = {{ version }} and _dbt_is_deleted, false) as _dbt_is_same
  {%- endif -%}
{%- endmacro %}


{# Compares keys by their first column and a hash: an IN over tuples costs more than reading the whole table. A hash
   collision only reads one row too many. #}
{% macro _get_key_lookup_sql(unique_key, changes) -%}
  {%- set first = adapter.quote(unique_key[0]) -%}
  {%- set hash = 'cityHash64(' ~ get_quoted_csv(unique_key) ~ ')' -%}
  {{ first }} in (select {{ first }} from {{ changes }})
  {%- if unique_key | length > 1 %}
    and {{ hash }} in (select {{ hash }} from {{ changes }})
  {%- endif %}
{%- endmacro %}
