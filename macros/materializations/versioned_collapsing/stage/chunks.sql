{# Stages one chunk of the change set: a range of keys, so that its look-up reads a part of the table. #}
{% macro stage_chunk(target, options, chunk, run) %}
  {%- set changes = versioned_collapsing.get_helper_relation(target, 'changes') -%}
  {%- set change_set = versioned_collapsing.get_helper_relation(target, 'change_set') -%}
  {%- do run_query('drop table if exists ' ~ changes) -%}
  {% call statement('create_chunk') -%}
    create table {{ changes }} as {{ change_set }} {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {% call statement('stage_chunk') -%}
    insert into {{ changes }}
    select *
    from {{ change_set }}
    where {{ versioned_collapsing.get_chunk_condition_sql(target, options, chunk) }}
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endcall %}
{% endmacro %}


{# The rows that chunks before this one have, of an apply that is taken up again. #}
{% macro read_row_count_before_chunk(target, options, chunk) %}
  {%- if chunk == 1 -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set query -%}
    select count() as _dbt_n
    from {{ versioned_collapsing.get_helper_relation(target, 'change_set') }}
    where {{ key }} < {{ versioned_collapsing._get_boundary_sql(target, options, chunk - 1) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['_dbt_n'] | int) -%}
{% endmacro %}
