{# The key of each row, and a checksum of all its columns in the types of the table. The checksum includes the names of
   the columns that lost something when they were cast to these types. #}
{% macro get_reconcile_rows_sql(relation, columns, unique_key, condition, is_live) -%}
  {%- set values = {} -%}
  {%- for name, column in columns.items() -%}
    {%- do values.update({name: versioned_collapsing.get_live_value_sql(column) if is_live
        else versioned_collapsing.get_true_value_sql(column)}) -%}
  {%- endfor -%}
  {%- set values_of_key = [] -%}
  {%- for name in unique_key -%}{%- do values_of_key.append(values[name]) -%}{%- endfor -%}
  {%- set lost = 'emptyArrayString()' if is_live else versioned_collapsing.get_lost_columns_sql(columns.values()) -%}
  select
    {%- for name in unique_key %}
    {{ values[name] }} as _dbt_key_{{ loop.index }},
    {%- endfor %}
    {{ versioned_collapsing.get_key_hash_sql(values_of_key) }} as _dbt_key_hash,
    cityHash64(tuple({{ (['_dbt_key_hash', lost] + values.values() | list) | join(', ') }})) as _dbt_checksum
  from {{ relation }}
  where {{ condition }}
{%- endmacro %}


{% macro get_key_hash_sql(values) %}
  {%- do return('cityHash64(tuple(' ~ values | join(', ') ~ ', 0))') -%}
{% endmacro %}
