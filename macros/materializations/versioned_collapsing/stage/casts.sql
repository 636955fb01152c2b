{# A value in the stored type, or a default if it does not fit. `depth`: how deep the value is nested in other
   values. #}
{% macro _cast_sql(value, given_type, type, depth) %}
  {%- set is_same = versioned_collapsing.get_base_type(given_type) == versioned_collapsing.get_base_type(type) -%}
  {%- if is_same and not versioned_collapsing.is_nullable_type(given_type) -%}
    {%- do return(value) -%}
  {%- endif -%}
  {%- set cast = value if is_same else versioned_collapsing._cast_or_null_sql(value, given_type, type, depth) -%}
  {%- do return(cast if versioned_collapsing.is_nullable_type(type) else 'assumeNotNull(' ~ cast ~ ')') -%}
{% endmacro %}


{# A value in another type, or null if ClickHouse cannot read it as one. Nested types cannot be null, so their parts are
   cast one by one. #}
{% macro _cast_or_null_sql(value, given_type, type, depth) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- set literal = versioned_collapsing.quote_literal(base) -%}
  {%- set text = versioned_collapsing.get_value_text_sql(value, given_type, type) -%}
  {%- if base.startswith('Variant(') or base.startswith('Dynamic') -%}
    {%- do return('cast(' ~ value ~ ', ' ~ literal ~ ')') -%}
  {%- elif versioned_collapsing.has_parts(base) and text -%}
    {%- set brackets = "('[', '{', '(')" -%}
    {%- set default = 'toString(defaultValueOfTypeName(' ~ literal ~ '))' -%}
    {%- set given_text = 'ifNull(' ~ text ~ ", '')" -%}
    {%- do return(
        'accurateCast(if(substring(' ~ given_text ~ ', 1, 1) in ' ~ brackets ~ ', ' ~ given_text ~ ', ' ~ default
        ~ '), ' ~ literal ~ ')'
    ) -%}
  {%- elif versioned_collapsing.has_parts(base) and given.split('(')[0] == base.split('(')[0] -%}
    {%- do return('cast(' ~ versioned_collapsing._cast_parts_sql(value, given, base, depth) ~ ', ' ~ literal ~ ')') -%}
  {%- elif base.startswith('Enum') -%}
    {%- set known = versioned_collapsing.get_enum_values(base, text is not none) -%}
    {%- set enum = text or value -%}
    {%- do return(
        'if(' ~ enum ~ ' in (' ~ known | join(', ') ~ '), accurateCastOrNull(if(' ~ enum ~ ' in (' ~ known | join(', ')
        ~ '), ' ~ enum ~ ', ' ~ known[0] ~ '), ' ~ literal ~ '), null)'
    ) -%}
  {%- endif -%}
  {%- do return('accurateCastOrNull(' ~ (text or value) ~ ', ' ~ literal ~ ')') -%}
{% endmacro %}


{# An Array, Map or Tuple with its parts cast. #}
{% macro _cast_parts_sql(value, given_type, type, depth) %}
  {%- set part = '_dbt_part_' ~ depth -%}
  {%- if type.startswith('Tuple(') -%}
    {%- set parts = [] -%}
    {%- for pair in versioned_collapsing.get_tuple_pairs(value, given_type, type) -%}
      {%- do parts.append(versioned_collapsing._cast_sql(pair.value, pair.given_type, pair.type, depth + 1)) -%}
    {%- endfor -%}
    {%- do return('tuple(' ~ parts | join(', ') ~ ')') -%}
  {%- endif -%}
  {%- set arrays = [] -%}
  {%- set types = versioned_collapsing.get_type_arguments(type) -%}
  {%- for given_part in versioned_collapsing.get_type_arguments(given_type) -%}
    {%- set of = value if type.startswith('Array(') else ('mapKeys(', 'mapValues(')[loop.index0] ~ value ~ ')' -%}
    {%- set cast = versioned_collapsing._cast_sql(part, given_part, types[loop.index0], depth + 1) -%}
    {%- do arrays.append(of if cast == part else 'arrayMap(' ~ part ~ ' -> ' ~ cast ~ ', ' ~ of ~ ')') -%}
  {%- endfor -%}
  {%- do return(arrays[0] if type.startswith('Array(') else 'mapFromArrays(' ~ arrays | join(', ') ~ ')') -%}
{% endmacro %}
