{# Where the whole change set is staged: what is applied at once is `changes`, all of it or a chunk. #}
{% macro get_change_set_relation(target, options) %}
  {%- do return(versioned_collapsing.get_helper_relation(target, versioned_collapsing.get_change_set_role(options))) -%}
{% endmacro %}


{% macro get_change_set_role(options) %}
  {%- do return('change_set' if options.chunks > 1 else 'changes') -%}
{% endmacro %}


{% macro drop_staged(target) %}
  {%- for role in ('change_set', 'changes', 'resolved', 'uncollapsed', 'torn', 'signed') -%}
    {%- do run_query('drop table if exists ' ~ versioned_collapsing.get_helper_relation(target, role)) -%}
  {%- endfor -%}
{% endmacro %}


{% macro read_staged_row_count(target, role='changes') %}
  {%- do return(
      run_query('select count() as _dbt_n from ' ~ versioned_collapsing.get_helper_relation(target, role) ~ ' '
      ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] | int
  ) -%}
{% endmacro %}
