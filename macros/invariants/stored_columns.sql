{# Types of the columns that are stored, by name, without the sign. #}
{% macro read_stored_columns(relation, sign) %}
  {%- set query -%}
    select name, type
    from system.columns
    where database = {{ versioned_collapsing.quote_literal(relation.schema) }}
      and table = {{ versioned_collapsing.quote_literal(relation.identifier) }}
      and default_kind not in ('ALIAS', 'EPHEMERAL')
    order by position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set columns = {} -%}
  {%- for row in run_query(query).rows if row['name'] != sign -%}
    {%- do columns.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}
