{# All stored rows of the keys that change. Each block that is read is merged with the sorted keys, and its rows are not
   looked up in a hash table, so the order of the table's parts does not matter. The index filters first, by one column
   of the key: a set of tuples takes longer to make than it saves. The query condition cache must be off: if indexHint
   skips a granule, the cache remembers that the granule never has such rows. #}
{% macro get_stored_rows_sql(target_relation, options, columns, change_count) -%}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'changes') -%}
  {%- set names = get_quoted_csv(columns.names + [options.sign]) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set sorted_by = options.order_by | select('in', options.unique_key) | list + options.unique_key -%}
  {%- set indexed = adapter.quote(sorted_by | first) -%}
  {%- set condition = indexed ~ ' in (select ' ~ indexed ~ ' from ' ~ changes ~ ')' -%}
  select {{ names }}
  from (
    select {{ names }}
    from {{ target_relation }}
    where {{ condition if versioned_collapsing.is_small_for_cache(change_count) else 'indexHint(' ~ condition ~ ')' }}
  ) as _dbt_stored
  left any join (select {{ key }}, true as _dbt_is_changed from {{ changes }}) as _dbt_changed using ({{ key }})
  where _dbt_is_changed
{%- endmacro %}


{# Whether a hash table of so many keys fits into the processor's cache. With so few keys, most granules have none of
   them, although the index cannot say so. Then each row's key is looked up, and the other columns are read only where a
   key is found. #}
{% macro is_small_for_cache(change_count) %}
  {%- do return(change_count <= 4096) -%}
{% endmacro %}
