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
    {{ versioned_collapsing.get_settings_sql(run, {'join_algorithm': 'partial_merge', 'optimize_on_insert': 0,
        'use_query_condition_cache': 0}) }}
  {%- endcall %}
  {% call statement('create_torn_keys') -%}
    create table {{ torn }} engine = MergeTree order by ({{ key }}) empty as select {{ key }} from {{ uncollapsed }}
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endcall %}
{% endmacro %}
