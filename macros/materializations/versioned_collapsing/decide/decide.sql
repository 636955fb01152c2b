{# Counts the outcomes of the staged changes; every key has exactly one outcome. Stages the torn keys. #}
{% macro decide_outcomes(target_relation, options, columns, uncollapsed, apply) %}
  {%- set found = versioned_collapsing.read_outcomes(
      target_relation, options, columns, uncollapsed, apply, compares_payload=false
  ) -%}
  {%- set has_torn_keys = versioned_collapsing.has_torn_keys(uncollapsed, found.matched) -%}
  {%- if has_torn_keys -%}
    {%- do versioned_collapsing.stage_torn_keys(target_relation, options, uncollapsed, apply) -%}
  {%- endif -%}
  {%- if has_torn_keys or 'same version' in found.outcomes -%}
    {%- set found = versioned_collapsing.read_outcomes(
        target_relation, options, columns, uncollapsed, apply, compares_payload=true
    ) -%}
  {%- endif -%}
  {%- set conflicts = versioned_collapsing.get_conflicts_sql(target_relation, options, columns, uncollapsed, apply) -%}
  {%- set sample = versioned_collapsing.read_conflict_sample(conflicts) if 'conflict' in found.outcomes else [] -%}
  {%- set to_fill = versioned_collapsing.read_columns_to_fill(
      target_relation, options, columns, uncollapsed, apply
  ) if 'conflict' in found.outcomes and options.on_schema_change == 'append_new_columns' else [] -%}
  {%- do return(dict(
      versioned_collapsing.get_counts_of_outcomes(found.outcomes, found.unmerged, sample), columns_to_fill=to_fill
  )) -%}
{% endmacro %}


{# Whether any key has uncollapsed rows that are not exactly one state row. `matched`: the number of keys that have
   uncollapsed rows. #}
{% macro has_torn_keys(uncollapsed, matched) %}
  {%- do return(uncollapsed.row_count > matched or uncollapsed.cancel_count > 0) -%}
{% endmacro %}
