{# Stages what is stored of the keys that change: the rows that no partner has collapsed. They are staged in an
   engine that collapses as the target does, and collapse when they are read: the target itself is read without FINAL,
   which costs less. A cancel row in another partition than its state never merges with it: the expressions of the
   partition are among those that the rows of a pair share, `pairing`. Returns what read_uncollapsed_rows does. #}
{% macro stage_uncollapsed_rows(target_relation, options, columns, pairing, change_count, apply) %}
  {%- set uncollapsed = versioned_collapsing.get_helper_relation(target_relation, 'uncollapsed') -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set names = get_quoted_csv(columns.names + [options.sign]) -%}
  {%- do versioned_collapsing.drop_staged(target_relation, ['uncollapsed', 'torn']) -%}
  {% call statement('create_uncollapsed_rows') -%}
    create table {{ uncollapsed }}
    engine = VersionedCollapsingMergeTree({{ adapter.quote(options.sign) }}, {{ adapter.quote(options.version) }})
    order by ({{ pairing | join(', ') }})
    empty as select {{ names }} from {{ target_relation }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
  {% call statement('stage_uncollapsed_rows') -%}
    insert into {{ uncollapsed }} ({{ names }})
    select {{ names }}
    from ({{ versioned_collapsing.get_stored_rows_sql(target_relation, options, columns, change_count) }})
    {{ versioned_collapsing.get_settings_sql(apply, {
        'join_algorithm': 'partial_merge', 'optimize_on_insert': 0, 'use_query_condition_cache': 0,
    }) }}
  {%- endcall %}
  {% call statement('create_torn_keys') -%}
    create table {{ torn }} engine = MergeTree order by ({{ key }}) empty as select {{ key }} from {{ uncollapsed }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
  {%- do return(versioned_collapsing.read_uncollapsed_rows(target_relation, options)) -%}
{% endmacro %}
