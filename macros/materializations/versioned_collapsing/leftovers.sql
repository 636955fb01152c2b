{# Stages what is stored of the keys that change: the rows that no partner has collapsed, which is
   what FINAL returns. A cancel row in another partition than its state never merges with it, so
   partitions are read apart. #}
{% macro stage_leftovers(target, options, columns, run) %}
  {%- set leftovers = versioned_collapsing._beside(target, 'leftovers') -%}
  {%- set odd = versioned_collapsing._beside(target, 'odd') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- do run_query('drop table if exists ' ~ leftovers) -%}
  {%- do run_query('drop table if exists ' ~ odd) -%}
  {% call statement('stage_leftovers') -%}
    create table {{ leftovers }} engine = MergeTree order by ({{ key }}) as
    select {{ get_quoted_csv(columns.names + [options.sign]) }}
    from {{ target }} final
    prewhere {{ versioned_collapsing.get_key_lookup_sql(options.unique_key, versioned_collapsing._beside(target, 'changes')) }}
    settings do_not_merge_across_partitions_select_final = 1, {{ versioned_collapsing.get_log_comment_setting(run) }}
  {%- endcall %}
  {% call statement('stage_odd_keys') -%}
    create table {{ odd }} engine = MergeTree order by ({{ key }}) as
    select {{ key }}
    from {{ leftovers }}
    group by {{ key }}
    having count() > 1 or min({{ adapter.quote(options.sign) }}) < 0
    settings {{ versioned_collapsing.get_log_comment_setting(run) }}
  {%- endcall %}
{% endmacro %}


{# Keys by their first column and a hash: an IN over tuples costs more than reading the whole table.
   A collision only reads a row too many. #}
{% macro get_key_lookup_sql(unique_key, changes) -%}
  {%- set first = adapter.quote(unique_key[0]) -%}
  {{ first }} in (select {{ first }} from {{ changes }})
  {%- if unique_key | length > 1 %}
    and cityHash64({{ get_quoted_csv(unique_key) }}) in (select cityHash64({{ get_quoted_csv(unique_key) }}) from {{ changes }})
  {%- endif %}
{%- endmacro %}
