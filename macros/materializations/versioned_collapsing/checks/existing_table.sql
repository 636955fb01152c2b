{# Stops the run when the relation that exists is not the table that the options describe. #}
{% macro validate_existing_table(existing, options, columns) %}
  {%- set query -%}
    select engine, engine_full, sorting_key, partition_key, (
      select max(sorting_key)
      from system.tables
      where {{ versioned_collapsing.get_is_table_sql(versioned_collapsing.get_tombstones_relation(existing)) }}
    ) as remembered_key
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(existing) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set problems = [] -%}
  {%- set rebuild = versioned_collapsing.get_rebuild_command(model) -%}
  {%- if 'VersionedCollapsingMergeTree' not in found['engine'] -%}
    {%- do problems.append(
        existing ~ " exists and is " ~ found['engine'] ~ ", not VersionedCollapsingMergeTree. Move it away, or "
        ~ "rebuild it: " ~ rebuild
    ) -%}
  {%- else -%}
    {%- for option, pair in versioned_collapsing.read_keys(found, options, columns).items() if pair[0] != pair[1] -%}
      {%- set differs = "', but " ~ existing ~ (" was built with '" if option == 'unique_key' else " has '") -%}
      {%- do problems.append(
          option ~ ": is '" ~ pair[0] ~ differs ~ pair[1]
          ~ "'. Change the option back, or rebuild the table: " ~ rebuild
      ) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(existing | string, problems) -%}
{% endmacro %}
