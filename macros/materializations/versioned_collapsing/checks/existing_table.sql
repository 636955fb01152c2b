{# Stops the run when the relation that exists is not the table that the options describe. #}
{% macro validate_existing_table(existing_relation, options, columns, model) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(existing_relation) -%}
  {%- set tables = versioned_collapsing.read_tables([existing_relation, tombstones]) -%}
  {%- set found = tables[existing_relation.identifier] -%}
  {%- set remembered = tables.get(tombstones.identifier) -%}
  {%- set problems = [] -%}
  {%- set rebuild = versioned_collapsing.get_rebuild_command(model) -%}
  {%- if 'VersionedCollapsingMergeTree' not in found.engine -%}
    {%- do problems.append(
        existing_relation ~ " exists and is " ~ found.engine ~ ", not VersionedCollapsingMergeTree. Rename it, or "
        ~ "rebuild it: " ~ rebuild
    ) -%}
  {%- else -%}
    {%- set pairs = versioned_collapsing.read_keys(found, remembered, options, columns) -%}
    {%- for option, pair in pairs.items() if pair.wanted != pair.found -%}
      {%- set differs = "', but " ~ existing_relation ~ (" was built with '" if option == 'unique_key'
          else " has '") -%}
      {%- do problems.append(
          option ~ (" are '" if ' and ' in option else " is '") ~ pair.wanted ~ differs ~ pair.found
          ~ "'. Change the option back, or rebuild the table: " ~ rebuild
      ) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(existing_relation | string, problems) -%}
{% endmacro %}
