{# What ClickHouse says of a landing table: its names, its columns with their types, and its UUID, which changes when
   the tool builds the table again. `columns` are those that a tool can fill. `spelling` maps names in lower case to the
   names, also of columns that the table computes (MATERIALIZED, ALIAS). `all_columns` selects both. #}
{% macro read_landing(landing) %}
  {%- set columns = versioned_collapsing.read_table_columns(landing) -%}
  {%- set found = versioned_collapsing.read_tables([landing]).get(landing.identifier) -%}
  {%- do versioned_collapsing.validate_landing(landing, columns) -%}
  {%- set computed = versioned_collapsing.read_table_columns(landing, ('MATERIALIZED', 'ALIAS')) -%}
  {%- set spelling = {} -%}
  {%- for column in columns + computed -%}
    {%- do spelling.update({column.name | lower: column.name}) -%}
  {%- endfor -%}
  {%- do return({
      'relation': landing,
      'name': landing.schema ~ '.' ~ landing.identifier,
      'columns': columns,
      'spelling': spelling,
      'all_columns': versioned_collapsing.quote_names((columns + computed) | map(attribute='name') | list),
      'uuid': found.uuid,
      'engine': found.engine,
  }) -%}
{% endmacro %}


{# What a bridge stands for while dbt parses: nothing has been read yet. #}
{% macro get_unread_landing_sql() %}
  {%- do return('select 1 as unread') -%}
{% endmacro %}


{# The columns of a landing table that are the source's: not the tool's own. #}
{% macro get_landed_payload(found, own) %}
  {%- set payload = [] -%}
  {%- for column in found.columns if column.name | lower not in own -%}
    {%- do payload.append(column.name) -%}
  {%- endfor -%}
  {%- do return(payload) -%}
{% endmacro %}


{# The first of some columns that a landing table has, in quotes; none if it has none of them. #}
{% macro get_landed_column(found, names) %}
  {%- for name in names if name in found.spelling -%}
    {%- do return(versioned_collapsing.quote_name(found.spelling[name])) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}
