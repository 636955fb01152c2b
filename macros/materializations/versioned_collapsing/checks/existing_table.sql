{# What is wrong with the relation that exists, if it is not the table that the options and columns describe. #}
{% macro read_existing_table_problems(existing_relation, found, stored, options, columns, model) %}
  {%- set rebuild = versioned_collapsing.get_rebuild_command(model) -%}
  {%- if 'VersionedCollapsingMergeTree' not in found.target.engine -%}
    {%- do return([
        existing_relation ~ " exists and is " ~ found.target.engine ~ ", not VersionedCollapsingMergeTree. Rename it, "
        ~ "or rebuild it: " ~ rebuild
    ]) -%}
  {%- endif -%}
  {%- set problems = [] -%}
  {%- set pairs = versioned_collapsing.read_keys(found.target, found.tombstones, options, columns) -%}
  {%- for option, pair in pairs.items() if pair.wanted != pair.found -%}
    {%- set differs = "', but " ~ existing_relation ~ (" was built with '" if option == 'unique_key'
        else " has '") -%}
    {%- do problems.append(
        option ~ (" are '" if ' and ' in option else " is '") ~ pair.wanted ~ differs ~ pair.found
        ~ "'. Change the option back, or rebuild the table: " ~ rebuild
    ) -%}
  {%- endfor -%}
  {%- do return(
      problems + versioned_collapsing.get_schema_change_problems(existing_relation, stored, options, columns, model)
  ) -%}
{% endmacro %}


{% macro validate_existing_table(existing_relation, problems) %}
  {%- do versioned_collapsing.raise_problems(existing_relation | string, problems) -%}
{% endmacro %}


{# Stops the run if another run has applied to the table before this run took the lock. #}
{% macro validate_is_unused(existing_relation, ledger, apply) %}
  {%- if ledger.has_history or ledger.unfinished -%}
    {%- do versioned_collapsing.stop_run(apply,
        existing_relation ~ ' was filled while this run waited for its lock. Run again.'
    ) -%}
  {%- endif -%}
{% endmacro %}
