{# The columns of a table that are compared with a truth, with their types. #}
{% macro get_compared_columns(table, columns) %}
  {%- set names = columns or (table.columns | reject('equalto', table.version) | list) -%}
  {%- set unknown = names | reject('in', table.columns) | list -%}
  {%- if unknown and table.columns -%}
    {%- do exceptions.raise_compiler_error("columns: " ~ table.relation ~ " lacks " ~ unknown ~ ". It has " ~ table.columns | list ~ ".") -%}
  {%- endif -%}
  {%- set compared = {} -%}
  {%- for name in names -%}
    {%- do compared.update({name: table.columns.get(name, 'String')}) -%}
  {%- endfor -%}
  {%- do return(compared) -%}
{% endmacro %}


{# A column of the truth in the type of the table. A null stays null, where the table can have none too, so that it is
   seen; a value that does not fit stops the test. #}
{% macro get_comparable_sql(name, type) -%}
  {%- set base = versioned_collapsing._base_type(type) -%}
  {%- if versioned_collapsing._is_nested(base) -%}
  cast({{ adapter.quote(name) }}, '{{ versioned_collapsing._escaped(base) }}')
  {%- else -%}
  accurateCast({{ adapter.quote(name) }}, 'Nullable({{ versioned_collapsing._escaped(base) }})')
  {%- endif -%}
{%- endmacro %}


{# The condition that keeps both sides of a comparison to the same keys: `key` by its columns there, `expressions` by
   those of the table. #}
{% macro get_keys_in_scope_sql(table, key, expressions, sample, recent_partitions) %}
  {%- set conditions = [versioned_collapsing.get_sample_sql(key, sample)] if sample else [] -%}
  {%- if recent_partitions -%}
    {%- do conditions.append(
        "tuple(" ~ key ~ ") in (select tuple(" ~ expressions ~ ") from " ~ table.relation ~ " where "
        ~ versioned_collapsing.get_recent_partitions_sql(table.relation, recent_partitions) ~ ")"
    ) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ') or 'true') -%}
{% endmacro %}
