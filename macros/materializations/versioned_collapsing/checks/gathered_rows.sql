{# Checks that as many rows are staged as were counted, so that none is lost or doubled. Repaired keys may add any
   number of rows. #}
{% macro validate_gathered_rows(target_relation, counts, gathered, apply) %}
  {%- set decided = counts.states + counts.cancels -%}
  {%- if gathered < decided or (gathered > decided and not counts.repaired) -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The changes of " ~ target_relation ~ " require " ~ versioned_collapsing.format_count(decided, 'row')
        ~ ", but " ~ versioned_collapsing.format_count(gathered, 'row') ~ (" was" if gathered == 1 else " were")
        ~ " staged. Nothing was published. Run again. If the error comes back, report it with the version of "
        ~ "ClickHouse."
    ) -%}
  {%- endif -%}
{% endmacro %}
