{# Stages what is stored of the keys that change: the rows that no partner has collapsed. They are staged in an
   engine that collapses as the target does, and read with FINAL there: the target itself is read without, which
   costs less. A cancel row in another partition than its state never merges with it: the expressions of the
   partition are a part of the sorting key. #}
{% macro stage_leftovers(target, options, columns, run) %}
  {%- set leftovers = versioned_collapsing._beside(target, 'leftovers') -%}
  {%- set odd = versioned_collapsing._beside(target, 'odd') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set pairs_by = (options.order_by + options.partition_by) | reject('in', options.unique_key) | list -%}
  {%- do run_query('drop table if exists ' ~ leftovers) -%}
  {%- do run_query('drop table if exists ' ~ odd) -%}
  {% call statement('create_leftovers') -%}
    create table {{ leftovers }}
    engine = VersionedCollapsingMergeTree({{ adapter.quote(options.sign) }}, {{ adapter.quote(options.version) }})
    order by ({{ versioned_collapsing._expressions_sql(options.unique_key + pairs_by, columns) }})
    empty as select {{ get_quoted_csv(columns.names + [options.sign]) }} from {{ target }}
  {%- endcall %}
  {% call statement('stage_leftovers') -%}
    insert into {{ leftovers }}
    select *
    from ({{ versioned_collapsing.get_stored_rows_sql(target, options, columns) }})
    settings final = 0, optimize_on_insert = 1, use_query_condition_cache = 0, {{ versioned_collapsing._no_deduplication() }}, {{ versioned_collapsing.get_log_comment_setting(run) }}
  {%- endcall %}
  {% call statement('stage_odd_keys') -%}
    create table {{ odd }} engine = MergeTree order by ({{ key }}) as
    select {{ key }}
    from {{ leftovers }} final
    group by {{ key }}
    having count() > 1 or min({{ adapter.quote(options.sign) }}) < 0
    settings {{ versioned_collapsing.get_log_comment_setting(run) }}
  {%- endcall %}
{% endmacro %}


{# All rows of the keys that change. Where the table is sorted by the key, it is merged with the changes, which
   are sorted too: each granule that the index names is read once, and no key is looked up in a hash table. The
   index is asked for the key's first column: a set of tuples takes longer to make than it saves. The cache of
   conditions must be off: it takes a granule that indexHint passed over for one that never has rows. #}
{% macro get_stored_rows_sql(target, options, columns) -%}
  {%- set changes = versioned_collapsing._beside(target, 'changes') -%}
  {%- set names = get_quoted_csv(columns.names + [options.sign]) -%}
  {%- set first = options.order_by[:options.unique_key | length] -%}
  {%- if first | sort == options.unique_key | sort -%}
    {%- set key = get_quoted_csv(first) -%}
  select {{ names }}
  from (
    select {{ names }} from {{ target }} where indexHint({{ adapter.quote(first[0]) }} in (select {{ adapter.quote(first[0]) }} from {{ changes }}))
  ) as stored
  inner join (select {{ 'distinct ' if columns.is_folded }}{{ key }} from {{ changes }}) as changed using ({{ key }})
  settings join_algorithm = 'full_sorting_merge'
  {%- else -%}
  select {{ names }}
  from {{ target }}
  prewhere {{ versioned_collapsing.get_key_lookup_sql(options.unique_key, changes) }}
  {%- endif %}
{%- endmacro %}


{# Keys by their first column and a hash: an IN over tuples costs more than reading the whole table.
   A collision only reads a row too many. #}
{% macro get_key_lookup_sql(unique_key, changes) -%}
  {%- set first = adapter.quote(unique_key[0]) -%}
  {{ first }} in (select {{ first }} from {{ changes }})
  {%- if unique_key | length > 1 %}
    and cityHash64({{ get_quoted_csv(unique_key) }}) in (select cityHash64({{ get_quoted_csv(unique_key) }}) from {{ changes }})
  {%- endif %}
{%- endmacro %}
