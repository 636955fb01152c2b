{# The uncollapsed rows, to select from. Without a cancel row nothing collapses, and FINAL would halve the speed of
   reading. #}
{% macro get_uncollapsed_rows_sql(target_relation, uncollapsed) %}
  {%- set relation = versioned_collapsing.get_helper_relation(target_relation, 'uncollapsed') -%}
  {%- do return(relation ~ (' final' if uncollapsed.needs_final else '')) -%}
{% endmacro %}

{# The expressions that both rows of a pair share. ClickHouse refuses a sorting key that has an expression twice, and
   the table may be both sorted and partitioned by the same expression. So expressions that are not columns are compared
   in ClickHouse's own spelling. #}
{% macro read_pairing_expressions(options, columns) %}
  {%- set wanted = options.unique_key + options.order_by + options.partition_by -%}
  {%- set texts = [] -%}
  {%- for expression in wanted -%}
    {%- do texts.append(versioned_collapsing.get_expressions_sql([expression], columns)) -%}
  {%- endfor -%}
  {%- if wanted | reject('in', columns.names) | list == [] -%}
    {%- do return(texts | unique(case_sensitive=true) | list) -%}
  {%- endif -%}
  {%- set expressions = [] -%}
  {%- for text in versioned_collapsing.read_formatted_expressions(texts) -%}
    {%- do expressions.extend(versioned_collapsing.split_top_level(text)) -%}
  {%- endfor -%}
  {%- do return(expressions | unique(case_sensitive=true) | list) -%}
{% endmacro %}

{# Stages the unbalanced keys, whose uncollapsed rows are not exactly one state row: a run died, or another writer left
   them so. #}
{% macro stage_unbalanced_keys(target_relation, options, uncollapsed, apply) %}
  {%- set unbalanced = versioned_collapsing.get_helper_relation(target_relation, 'unbalanced') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {% call statement('stage_unbalanced_keys') -%}
    insert into {{ unbalanced }} ({{ key }})
    select {{ key }}
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
    group by {{ key }}
    having count() > 1 or min({{ adapter.quote(options.sign) }}) < 0
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
{% endmacro %}

{# Stages the stored rows of the keys that change. The staged table has an engine that collapses as the target does, so
   its rows collapse when they are read. The target itself is read without FINAL, which costs less. A cancel row in
   another partition than its state row never merges with it. So `pairing`, the expressions that the rows of a pair
   share, includes those of the partition. `is_filled`: whether an earlier chunk was staged. #}
{% macro stage_uncollapsed_rows(target_relation, options, columns, pairing, change_count, is_filled, apply) %}
  {%- set uncollapsed = versioned_collapsing.get_helper_relation(target_relation, 'uncollapsed') -%}
  {%- set unbalanced = versioned_collapsing.get_helper_relation(target_relation, 'unbalanced') -%}
  {%- set names = get_quoted_csv(columns.names + [options.sign]) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.prepare_staged_table(
      uncollapsed, versioned_collapsing._get_create_uncollapsed_rows_sql(uncollapsed, options, columns, pairing), apply,
      is_filled
  ) -%}
  {%- do versioned_collapsing.prepare_staged_table(
      unbalanced, versioned_collapsing._get_create_unbalanced_keys_sql(unbalanced, options, columns), apply, is_filled
  ) -%}
  {% call statement('stage_uncollapsed_rows') -%}
    insert into {{ uncollapsed }} ({{ names }})
    select {{ names }}
    from ({{ versioned_collapsing.get_stored_rows_sql(target_relation, options, columns, change_count) }})
    {{ versioned_collapsing.get_settings_sql(apply, dict(
        versioned_collapsing.get_merge_join_settings(), optimize_on_insert=0, use_query_condition_cache=0
    )) }}
  {%- endcall %}
{% endmacro %}

{% macro _get_create_uncollapsed_rows_sql(uncollapsed, options, columns, pairing) -%}
  create table {{ uncollapsed }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {{ adapter.quote(options.sign) }} Int8
  )
  engine = VersionedCollapsingMergeTree({{ adapter.quote(options.sign) }}, {{ adapter.quote(options.version) }})
  order by ({{ pairing | join(', ') }})
{%- endmacro %}

{% macro _get_create_unbalanced_keys_sql(unbalanced, options, columns) -%}
  create table {{ unbalanced }} (
    {%- for column in columns.table if column.name in options.unique_key %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
  )
  engine = MergeTree
  order by ({{ get_quoted_csv(options.unique_key) }})
{%- endmacro %}

{# All stored rows of the keys that change. Each block that is read is merged with the sorted keys instead of looked up
   in a hash table, so the order of the table's parts does not matter. The index filters first, by one column of the
   key: a set of tuples takes longer to make than it saves. The query condition cache must be off: if indexHint skips a
   granule, the cache remembers that the granule never has such rows.

   A hash table of few keys fits into the processor's cache. Most granules then have none of them, although the index
   cannot say so: each row's key is looked up, and the other columns are read only where a key is found. #}
{% macro get_stored_rows_sql(target_relation, options, columns, change_count) -%}
  {%- set changes = versioned_collapsing.get_input_sql(target_relation, options) -%}
  {%- set names = get_quoted_csv(columns.names + [options.sign]) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set sorted_by = options.order_by | select('in', options.unique_key) | list + options.unique_key -%}
  {%- set indexed = adapter.quote(sorted_by | first) -%}
  {%- set condition = indexed ~ ' in (select ' ~ indexed ~ ' from ' ~ changes ~ ')' -%}
  {%- set is_small = change_count <= 4096 -%}
  select {{ names }}
  from (
    select {{ names }}
    from {{ target_relation }}
    where {{ condition if is_small else 'indexHint(' ~ condition ~ ')' }}
  ) as _dbt_stored
  left any join (select {{ key }}, true as _dbt_is_changed from {{ changes }}) as _dbt_changed using ({{ key }})
  where _dbt_is_changed
{%- endmacro %}
