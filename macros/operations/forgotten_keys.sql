{# The condition that a row of another origin has a key that was forgotten before. #}
{% macro _read_is_forgotten_sql(table, node, options) %}
  {%- set forgotten = versioned_collapsing.get_forgotten_relation(table) -%}
  {%- set found = versioned_collapsing.read_tables([forgotten]).get(forgotten.identifier) -%}
  {%- if not found -%}{%- do return('false') -%}{%- endif -%}
  {%- set secret = versioned_collapsing.read_secret(
      forgotten, found, versioned_collapsing.get_apply(node, table)
  ) -%}
  {%- set key_columns = versioned_collapsing._get_key_columns(
      versioned_collapsing.get_source_key(node), versioned_collapsing.read_described_columns(table, options)
  ) -%}
  {%- do return(versioned_collapsing._get_is_known_sql(
      table, versioned_collapsing._get_cast_key(key_columns), secret
  )) -%}
{% endmacro %}

{% macro _get_key_columns(key, columns) %}
  {%- set key_columns = [] -%}
  {%- for name in key -%}
    {%- do key_columns.append(columns.table | selectattr('name', 'equalto', name) | first) -%}
  {%- endfor -%}
  {%- do return(key_columns) -%}
{% endmacro %}

{# The condition that a row has a key that was forgotten before. #}
{% macro _get_is_known_sql(table, key_columns, secret) %}
  {%- do return(
      versioned_collapsing.get_forgotten_hash_sql(key_columns, secret)
      ~ ' in (select hash from ' ~ versioned_collapsing.get_forgotten_relation(table) ~ ')'
  ) -%}
{% endmacro %}

{# The columns of a key as they are elsewhere, in the types of the table: null if a value does not fit. With `prefix`,
   their names there are the prefix and a number. #}
{% macro _get_cast_key(key_columns, prefix='') %}
  {%- set key = [] -%}
  {%- for column in key_columns -%}
    {%- set type = versioned_collapsing.quote_literal(versioned_collapsing.get_base_type(column.type)) -%}
    {%- set name = prefix ~ loop.index if prefix else versioned_collapsing.quote_name(column.name) -%}
    {%- do key.append(dict(column, sql='accurateCastOrNull(' ~ name ~ ', ' ~ type ~ ')')) -%}
  {%- endfor -%}
  {%- do return(key) -%}
{% endmacro %}
