{# What a full refresh that died has left beside the table. #}
{% macro drop_leftover_build(build) %}
  {%- set query -%}
    select name
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(build.schema) }}
      and (name = {{ versioned_collapsing.quote_literal(build.identifier) }}
          or startsWith(name, {{ versioned_collapsing.quote_literal(build.identifier ~ '__') }}))
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do run_query('drop table if exists ' ~ build.incorporate(path={'identifier': row['name']}, type='table')) -%}
  {%- endfor -%}
{% endmacro %}
