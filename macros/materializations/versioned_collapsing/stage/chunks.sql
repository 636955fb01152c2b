{# Stages one chunk of the change set: a range of keys, so that its look-up reads a part of the table. A single chunk is
   staged already, with `change_count` changes. Returns how many there are. #}
{% macro stage_chunk(target_relation, options, chunk, change_count, apply) %}
  {%- if options.chunks == 1 -%}
    {%- do return(change_count) -%}
  {%- endif -%}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'changes') -%}
  {%- set change_set = versioned_collapsing.get_helper_relation(target_relation, 'change_set') -%}
  {%- do run_query('drop table if exists ' ~ changes) -%}
  {% call statement('create_chunk') -%}
    create table {{ changes }} as {{ change_set }} {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {% call statement('stage_chunk') -%}
    insert into {{ changes }}
    select *
    from {{ change_set }}
    where {{ versioned_collapsing.get_chunk_condition_sql(change_set, options, chunk) }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
  {%- do return(versioned_collapsing.read_row_count(changes)) -%}
{% endmacro %}


{# The rows that chunks before this one have, of an apply that is taken up again. #}
{% macro read_row_count_before_chunk(target_relation, options, chunk) %}
  {%- if chunk == 1 -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set change_set = versioned_collapsing.get_helper_relation(target_relation, 'change_set') -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set boundary = versioned_collapsing.get_boundary_sql(change_set, options, chunk - 1) -%}
  {%- do return(versioned_collapsing.read_row_count(change_set, key ~ ' < ' ~ boundary)) -%}
{% endmacro %}
