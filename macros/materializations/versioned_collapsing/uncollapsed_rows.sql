{# Stages what is stored of the keys that change: the rows that no partner has collapsed. They are staged in an
   engine that collapses as the target does, and collapse when they are read: the target itself is read without FINAL,
   which costs less. A cancel row in another partition than its state never merges with it: the expressions of the
   partition are a part of the sorting key. #}
{% macro stage_uncollapsed_rows(target, options, columns, run) %}
  {%- set uncollapsed = versioned_collapsing.get_helper_relation(target, 'uncollapsed') -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target, 'torn') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set pairs_by = versioned_collapsing._get_pairing_expressions(options, columns) -%}
  {%- do run_query('drop table if exists ' ~ uncollapsed) -%}
  {%- do run_query('drop table if exists ' ~ torn) -%}
  {% call statement('create_uncollapsed_rows') -%}
    create table {{ uncollapsed }}
    engine = VersionedCollapsingMergeTree({{ adapter.quote(options.sign) }}, {{ adapter.quote(options.version) }})
    order by ({{ pairs_by | join(', ') }})
    empty as select {{ get_quoted_csv(columns.names + [options.sign]) }} from {{ target }}
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endcall %}
  {% call statement('stage_uncollapsed_rows') -%}
    insert into {{ uncollapsed }}
    select *
    from ({{ versioned_collapsing.get_stored_rows_sql(target, options, columns) }})
    {{ versioned_collapsing.get_settings_sql(run, {'join_algorithm': 'partial_merge', 'optimize_on_insert': 0, 'use_query_condition_cache': 0}) }}
  {%- endcall %}
  {% call statement('create_torn_keys') -%}
    create table {{ torn }} engine = MergeTree order by ({{ key }}) empty as select {{ key }} from {{ uncollapsed }}
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endcall %}
{% endmacro %}


{# What the rows of a pair share, in ClickHouse's own spelling: it refuses a sorting key in which an expression comes
   twice, as one may that the table is both sorted and partitioned by. #}
{% macro _get_pairing_expressions(options, columns) %}
  {%- set texts = [] -%}
  {%- for expression in options.unique_key + options.order_by + options.partition_by -%}
    {%- do texts.append(versioned_collapsing.get_expressions_sql([expression], columns)) -%}
  {%- endfor -%}
  {%- set expressions = [] -%}
  {%- for text in versioned_collapsing.get_formatted_expressions(texts) -%}
    {%- do expressions.extend(versioned_collapsing.cut_at_commas(text)) -%}
  {%- endfor -%}
  {%- do return(expressions | unique(true) | list) -%}
{% endmacro %}


{# The uncollapsed rows, to select from. Nothing collapses without a cancel row: FINAL would read them half as fast. #}
{% macro get_uncollapsed_rows_sql(target, options) %}
  {%- set uncollapsed = versioned_collapsing.get_helper_relation(target, 'uncollapsed') -%}
  {%- set query = 'select countIf(' ~ adapter.quote(options.sign) ~ ' < 0) as _dbt_n from ' ~ uncollapsed ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- do return(uncollapsed ~ (' final' if run_query(query).rows[0]['_dbt_n'] | int else '')) -%}
{% endmacro %}


{# Stages the keys whose uncollapsed rows are not one state row: torn by a run that died, or wrong from elsewhere. #}
{% macro stage_torn_keys(target, options, run) %}
  {%- set torn = versioned_collapsing.get_helper_relation(target, 'torn') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- do run_query('truncate table ' ~ torn) -%}
  {% call statement('stage_torn_keys') -%}
    insert into {{ torn }}
    select {{ key }}
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target, options) }}
    group by {{ key }}
    having count() > 1 or min({{ adapter.quote(options.sign) }}) < 0
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endcall %}
{% endmacro %}


{# All rows of the keys that change, whatever the order of the table's parts: each block that is read is merged with
   the changed keys, which are sorted, instead of looking its rows up in a hash table. The index is asked first, for
   one column of the key: a set of tuples takes longer to make than it saves. The cache of conditions must be off: it
   takes a granule that indexHint passed over for one that never has rows. #}
{% macro get_stored_rows_sql(target, options, columns) -%}
  {%- set changes = versioned_collapsing.get_helper_relation(target, 'changes') -%}
  {%- set names = get_quoted_csv(columns.names + [options.sign]) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set indexed = adapter.quote((options.order_by | select('in', options.unique_key) | list + options.unique_key) | first) -%}
  {%- set condition = indexed ~ ' in (select ' ~ indexed ~ ' from ' ~ changes ~ ')' -%}
  select {{ names }}
  from (
    select {{ names }}
    from {{ target }}
    where {{ condition if versioned_collapsing.has_few_changes(changes) else 'indexHint(' ~ condition ~ ')' }}
  ) as _dbt_stored
  left semi join (select {{ key }} from {{ changes }}) as _dbt_changed using ({{ key }})
{%- endmacro %}


{# Whether a hash table of the changed keys stays in the processor's cache, and most granules have none of them though
   the index cannot say so: then each row's key is looked up, and the other columns are read where one is found. #}
{% macro has_few_changes(changes) %}
  {%- do return(run_query('select count() as _dbt_n from ' ~ changes ~ ' ' ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] | int <= 4096) -%}
{% endmacro %}
