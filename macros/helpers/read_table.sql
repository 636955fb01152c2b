{# The comment of a table; none when it is not there. #}
{% macro read_comment(table) %}
  {%- set query -%}
    select comment
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(table.schema) }}
        and name = {{ versioned_collapsing.quote_literal(table.identifier) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do return(row['comment'] or '') -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


{# The UUID of a table, as text; empty when it is not there. #}
{% macro read_uuid(table) %}
  {%- set query -%}
    select toString(uuid) as uuid
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(table.schema) }}
        and name = {{ versioned_collapsing.quote_literal(table.identifier) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do return(row['uuid']) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}
