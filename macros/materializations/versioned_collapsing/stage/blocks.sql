{# Rows of a block of the journal: what 64 MiB hold of rows like those of a staged table, at most a million. Rows that
   come signed are staged in no other table before, and are taken to be wide. Tests make blocks small. #}
{% macro read_block_rows(staged) %}
  {%- set rows = var('versioned_collapsing_block_rows', none) -%}
  {%- if rows is not none -%}
    {%- do return(rows | int) -%}
  {%- endif -%}
  {%- set query -%}
    select
      if(
        sum(rows) = 0,
        200000,
        least(
          {{ versioned_collapsing.get_most_block_rows() }},
          greatest(1, intDiv(67108864 * sum(rows), sum(data_uncompressed_bytes)))
        )
      ) as n
    from system.parts
    where active and {{ versioned_collapsing.get_is_table_sql(staged, 'table') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['n'] | int) -%}
{% endmacro %}


{% macro get_most_block_rows() %}
  {%- do return(1048576) -%}
{% endmacro %}
