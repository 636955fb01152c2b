{# How many uncollapsed rows there are, how many of them are cancel rows, and whether they must be read with FINAL.
   Without a cancel row nothing collapses, and FINAL would halve the speed of reading. #}
{% macro read_uncollapsed_rows(target_relation, options) %}
  {%- set stored = versioned_collapsing._read_counts_by_sign(target_relation, options, needs_final=false) -%}
  {%- if not stored.cancel_count -%}
    {%- do return(stored) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing._read_counts_by_sign(target_relation, options, needs_final=true)) -%}
{% endmacro %}


{% macro _read_counts_by_sign(target_relation, options, needs_final) %}
  {%- set query -%}
    select count() as _dbt_n, countIf({{ adapter.quote(options.sign) }} < 0) as _dbt_cancels
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, {'needs_final': needs_final}) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({
      'row_count': found['_dbt_n'] | int,
      'cancel_count': found['_dbt_cancels'] | int,
      'needs_final': needs_final,
  }) -%}
{% endmacro %}


{# The uncollapsed rows, to select from. #}
{% macro get_uncollapsed_rows_sql(target_relation, uncollapsed) %}
  {%- set relation = versioned_collapsing.get_helper_relation(target_relation, 'uncollapsed') -%}
  {%- do return(relation ~ (' final' if uncollapsed.needs_final else '')) -%}
{% endmacro %}
