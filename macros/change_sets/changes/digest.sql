{# A hash of columns that is the same only for the same values. Spark's hash ignores nulls, also those within a value.
   So each column comes after a flag that says whether it is null, and a nested value is hashed as its JSON. Floats are
   hashed as text: 0.0 and -0.0 are not the same, but all NaN are. #}
{% macro get_digest_sql(names, types) %}
  {%- set parts = [] -%}
  {%- for name in names -%}
    {%- set column = adapter.quote(name) -%}
    {%- do parts.extend([column ~ ' is null', versioned_collapsing._get_hashable_sql(column, types.get(name, ''))]) -%}
  {%- endfor -%}
  {%- do return('xxhash64(' ~ (parts | join(', ') or '1') ~ ')') -%}
{% endmacro %}


{# `_unset` is made by these macros, and has no nulls. #}
{% macro _get_hashable_sql(column, type) %}
  {%- if type in ('float', 'double') -%}
    {%- do return('cast(' ~ column ~ ' as string)') -%}
  {%- elif '<' in type and column != adapter.quote('_unset') -%}
    {%- do return(
        'to_json(struct(' ~ column ~ "), map('ignoreNullFields', 'false', "
        ~ "'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', "
        ~ "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'))"
    ) -%}
  {%- endif -%}
  {%- do return(column) -%}
{% endmacro %}
