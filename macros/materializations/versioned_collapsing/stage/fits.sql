{# Whether a value stays the same in another type. `cast` is the value in that type, or null. A text stays the same if
   the stored value, written as text again, says the same. Any other value stays the same if it is equal after a cast
   back. #}
{% macro _fits_sql(value, cast, given_type, type, depth) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- set text = versioned_collapsing.get_value_text_sql(value, given_type, type) -%}
  {%- if base.startswith('Variant(') -%}
    {%- do return('toString(' ~ cast ~ ') = toString(' ~ value ~ ')') -%}
  {%- elif base.startswith('Dynamic') -%}
    {%- do return('true') -%}
  {%- elif text -%}
    {%- set fits = versioned_collapsing._text_fits_sql(text, cast, base) -%}
    {%- do return('isNotNull(' ~ cast ~ ')' ~ (' and (' ~ fits ~ ')' if fits else '')) -%}
  {%- elif versioned_collapsing.has_parts(base) -%}
    {%- do return(versioned_collapsing._parts_fit_sql(value, given, base, depth)) -%}
  {%- elif base == 'String' and (versioned_collapsing.has_parts(given) or given.startswith('JSON')) -%}
    {%- do return('true') -%}
  {%- elif base.startswith('JSON') -%}
    {%- do return(
        'isNotNull(' ~ cast ~ ')' ~ (' and toString(' ~ cast ~ ') = toString(' ~ value ~ ')' if given.startswith('JSON')
        else '')
    ) -%}
  {%- endif -%}
  {%- set back = 'accurateCastOrNull(' ~ cast ~ ', ' ~ versioned_collapsing.quote_literal(given) ~ ')' -%}
  {%- do return(
      'isNotNull(' ~ cast ~ ') and ' ~ versioned_collapsing.get_comparable_sql(back, given) ~ ' <=> '
      ~ versioned_collapsing.get_comparable_sql(value, given)
  ) -%}
{% endmacro %}


{# Whether all parts of an Array, Map or Tuple fit. The keys of a Map must fit too, so that they stay different. #}
{% macro _parts_fit_sql(value, given_type, type, depth) %}
  {%- set conditions = [] -%}
  {%- if type.startswith('Tuple(') -%}
    {%- for pair in versioned_collapsing.get_tuple_pairs(value, given_type, type) -%}
      {%- do conditions.append(versioned_collapsing._part_fits_sql(pair.value, pair.given_type, pair.type, depth)) -%}
    {%- endfor -%}
  {%- else -%}
    {%- set part = '_dbt_part_' ~ depth -%}
    {%- set types = versioned_collapsing.get_type_arguments(type) -%}
    {%- for given_part in versioned_collapsing.get_type_arguments(given_type) -%}
      {%- set of = value if type.startswith('Array(') else ('mapKeys(', 'mapValues(')[loop.index0] ~ value ~ ')' -%}
      {%- set fits = versioned_collapsing._part_fits_sql(part, given_part, types[loop.index0], depth) -%}
      {%- if fits != 'true' -%}
        {%- do conditions.append('arrayAll(' ~ part ~ ' -> ' ~ fits ~ ', ' ~ of ~ ')') -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return('(' ~ (conditions | reject('equalto', 'true') | join(' and ') or 'true') ~ ')') -%}
{% endmacro %}


{% macro _part_fits_sql(value, given_type, type, depth) %}
  {%- set conditions = [] -%}
  {%- set is_null = 'isNull(' ~ value ~ ')' -%}
  {%- set can_be_null = versioned_collapsing.is_nullable_type(given_type) -%}
  {%- if versioned_collapsing.get_base_type(given_type) != versioned_collapsing.get_base_type(type) -%}
    {%- set cast = versioned_collapsing._cast_or_null_sql(value, given_type, type, depth + 1) -%}
    {%- set fits = 'ifNull(' ~ versioned_collapsing._fits_sql(value, cast, given_type, type, depth + 1) ~ ', false)' -%}
    {%- do return(
        '(' ~ is_null ~ ' or ' ~ fits ~ ')' if can_be_null and versioned_collapsing.is_nullable_type(type) else fits
    ) -%}
  {%- endif -%}
  {%- do return('not ' ~ is_null if can_be_null and not versioned_collapsing.is_nullable_type(type) else 'true') -%}
{% endmacro %}
