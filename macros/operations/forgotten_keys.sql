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
   their names there are the prefix and a number. `types` has their types there by name, if they may be any: ClickHouse
   cannot cast each type to each other one, but it can write and read texts.

   - sql: the value elsewhere; stored: the column of the table to compare with. For an Enum, both are texts #}
{% macro _get_cast_key(key_columns, prefix='', types=none) %}
  {%- set key = [] -%}
  {%- for column in key_columns -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- set given = versioned_collapsing.get_base_type(types[column.name]) if types else '' -%}
    {%- set own = versioned_collapsing.quote_name(column.name) -%}
    {%- set name = prefix ~ loop.index if prefix else own -%}
    {%- set text = 'toString(' ~ name ~ ')' -%}
    {%- set is_text = base.startswith('Enum') and given != base -%}
    {%- set value = name if not types or (base.startswith('Date') and given.startswith('Date')) else text -%}
    {%- set cast = 'accurateCastOrNull(' ~ value ~ ', ' ~ versioned_collapsing.quote_literal(base) ~ ')' -%}
    {%- do key.append(dict(
        column,
        sql=name if given == base else text if is_text else cast,
        stored='toString(' ~ own ~ ')' if is_text else own,
    )) -%}
  {%- endfor -%}
  {%- do return(key) -%}
{% endmacro %}

{# The condition that a row elsewhere has one of the staged keys. `key`: of _get_cast_key. #}
{% macro _get_has_key_sql(key, staged) %}
  {%- do return(
      '(' ~ key | map(attribute='sql') | join(', ') ~ ') in (select ' ~ key | map(attribute='stored') | join(', ')
      ~ ' from ' ~ staged ~ ')'
  ) -%}
{% endmacro %}
