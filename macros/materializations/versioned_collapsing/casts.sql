{# A column of the change set as the target stores it. A value that does not fit becomes a default here and a problem in
   get_problem_sql, so that no row is lost or altered silently. #}
{% macro get_cast_sql(column) %}
  {%- if column.given_type is none -%}
    {%- do return('defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(column.type) ~ ')') -%}
  {%- endif -%}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- do return(versioned_collapsing._cast_sql(given, column.given_type, column.type, 1)) -%}
{% endmacro %}

{# A value in the stored type, or a default if it does not fit. `depth`: how deep the value is nested in other
   values. #}
{% macro _cast_sql(value, given_type, type, depth) %}
  {%- set is_same = versioned_collapsing.get_base_type(given_type) == versioned_collapsing.get_base_type(type) -%}
  {%- if is_same and not versioned_collapsing.is_nullable_type(given_type) -%}
    {%- do return(value) -%}
  {%- endif -%}
  {%- set cast = value if is_same else versioned_collapsing.get_cast_or_null_sql(value, given_type, type, depth) -%}
  {%- do return(cast if versioned_collapsing.is_nullable_type(type) else 'assumeNotNull(' ~ cast ~ ')') -%}
{% endmacro %}

{# A value in another type, or null if ClickHouse cannot read it as one. Nested types cannot be null, so their parts are
   cast one by one. #}
{% macro get_cast_or_null_sql(value, given_type, type, depth=1) %}
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

{# A column of the change set, or null where its value does not fit. #}
{% macro get_fitting_sql(column) %}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- if versioned_collapsing.get_base_type(column.given_type) == versioned_collapsing.get_base_type(column.type) -%}
    {%- do return(given) -%}
  {%- endif -%}
  {%- set cast = versioned_collapsing.get_cast_or_null_sql(given, column.given_type, column.type, 1) -%}
  {%- set fits = versioned_collapsing.get_fits_sql(given, cast, column.given_type, column.type, 1) -%}
  {%- do return('if(ifNull(' ~ fits ~ ', false), ' ~ cast ~ ', null)') -%}
{% endmacro %}

{# Whether a value stays the same in another type. `cast` is the value in that type, or null. A text stays the same if
   the stored value, written as text again, says the same. Any other value stays the same if it is equal after a cast
   back. #}
{% macro get_fits_sql(value, cast, given_type, type, depth=1) %}
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

{# The condition that a text says the same as the value stored for it; none if nothing can be lost. #}
{% macro _text_fits_sql(text, cast, type) %}
  {%- set stored = 'toString(' ~ cast ~ ')' -%}
  {%- set is_same = stored ~ ' = ' ~ text -%}
  {%- if type in ('String', 'Bool', 'IPv6') -%}
    {%- do return(none) -%}
  {%- elif type.startswith(('Int', 'UInt', 'Decimal')) -%}
    {%- set numbers = [versioned_collapsing._number_sql(stored), versioned_collapsing._number_sql(text)] -%}
    {%- do return(is_same ~ ' or ' ~ numbers | join(' = ')) -%}
  {%- elif type.startswith(('Float', 'BFloat')) -%}
    {%- do return(is_same ~ ' or ' ~ versioned_collapsing._float_text_fits_sql(text, cast, type)) -%}
  {%- elif type.startswith('Date') -%}
    {%- do return(is_same ~ ' or ' ~ versioned_collapsing._time_text_fits_sql(text, cast, type)) -%}
  {%- elif type.startswith('Time') -%}
    {%- set texts = [versioned_collapsing.get_without_zeros_sql(stored),
        versioned_collapsing.get_without_zeros_sql(text)] -%}
    {%- do return(texts | join(' = ')) -%}
  {%- elif type == 'UUID' -%}
    {%- do return('replaceAll(' ~ stored ~ ", '-', '') = replaceAll(lower(" ~ text ~ "), '-', '')") -%}
  {%- elif type.startswith('FixedString(') -%}
    {%- set size = versioned_collapsing.get_type_arguments(type)[0] -%}
    {%- do return('length(' ~ text ~ ') = ' ~ size ~ ' or not endsWith(' ~ text ~ ", '\\0')") -%}
  {%- elif type.startswith('JSON') -%}
    {%- do return(versioned_collapsing._json_text_fits_sql(text, stored)) -%}
  {%- elif versioned_collapsing.has_parts(type) -%}
    {%- do return(is_same ~ ' or ' ~ stored ~ ' = ' ~ versioned_collapsing._without_blanks_sql(text)) -%}
  {%- endif -%}
  {%- do return(is_same) -%}
{% endmacro %}

{# The text of a number as sign, digits and exponent: 1.50, +1.5 and 15e-1 are the same number. A text that is no
   number, such as nan, becomes empty. #}
{% macro _number_sql(text) %}
  {%- set pattern = versioned_collapsing.quote_literal(
      '^([+-]?)([0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE]([+-]?[0-9]+))?$'
  ) -%}
  {%- set fraction = "length(splitByChar('.', _dbt_number[2])[2])" -%}
  {%- set digits = "trim(leading '0' from replaceOne(_dbt_number[2], '.', ''))" -%}
  {%- set significant = "trim(trailing '0' from " ~ digits ~ ")" -%}
  {%- do return(
      "arrayMap(_dbt_number -> multiIf(empty(_dbt_number), '', " ~ digits ~ " = '', '0', "
      ~ "concat(if(_dbt_number[1] = '-', '-', ''), " ~ significant ~ ", 'e', toString(toInt64OrZero(_dbt_number[3]) - "
      ~ fraction ~ " + length(" ~ digits ~ ") - length(" ~ significant ~ ")))), [extractGroups(" ~ text ~ ", " ~ pattern
      ~ ")])[1]"
  ) -%}
{% endmacro %}

{# A number is stored as the nearest float. It fits if one of three texts of the float is the same number: the shortest
   one, one with as many digits as tell floats apart, or one with all digits. So 0.10000000000000001 fits as 0.1, and
   16777217 fits no Float32. #}
{% macro _float_text_fits_sql(text, cast, type) %}
  {%- set number = versioned_collapsing._number_sql(text) -%}
  {%- set known = [versioned_collapsing._number_sql('toString(' ~ cast ~ ')')] -%}
  {%- for digits in {'Float32': (7, 8, 40), 'Float64': (15, 16, 40)}.get(type, ()) -%}
    {%- set format = versioned_collapsing.quote_literal('%.' ~ digits ~ 'e') -%}
    {%- do known.append(versioned_collapsing._number_sql('printf(' ~ format ~ ', ' ~ cast ~ ')')) -%}
  {%- endfor -%}
  {%- do return(
      '(isFinite(' ~ cast ~ ') or ' ~ number ~ " = '') and has([" ~ known | join(', ') ~ '], ' ~ number ~ ')'
  ) -%}
{% endmacro %}

{# Whether the text of a date or a time says the same as the stored value. Its parts are written as ClickHouse would
   write them, and compared with what ClickHouse writes. A time with an offset is compared at that offset. Seconds since
   1970, and dates such as 20250131, are compared by their digits. #}
{% macro _time_text_fits_sql(text, cast, type) %}
  {%- set pattern = '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})'
      ~ '(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\\.([0-9]*))?)?)? '
      ~ '?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?$' -%}
  {%- set parts = 'extractGroups(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ')' -%}
  {%- set is_date = type in ('Date', 'Date32') -%}
  {%- set scale = modules.re.findall('^DateTime64\\((\\d)', type) | first | default(0) | int -%}
  {%- set written = versioned_collapsing._written_time_sql('_dbt_time', scale) -%}
  {%- set offset = versioned_collapsing._offset_sql('_dbt_time[8]') -%}
  {%- if is_date -%}
    {%- set stored = 'if(' ~ offset ~ ' = 0, toString(' ~ cast ~ ") || ' 00:00:00', '')" -%}
    {%- set digits = ['toString(' ~ cast ~ ')'] -%}
  {%- else -%}
    {%- set at_offset = 'toString(addSeconds(toTimeZone(' ~ cast ~ ", 'UTC'), " ~ offset ~ '))' -%}
    {%- set stored = "if(_dbt_time[8] = '', toString(" ~ cast ~ '), ' ~ at_offset ~ ')' -%}
    {%- set seconds = 'toDecimal128(' ~ cast ~ ', 9)' if type.startswith('DateTime64') else 'toUnixTimestamp(' ~ cast
        ~ ')' -%}
    {%- set digits = ['toString(' ~ cast ~ ')', 'toString(' ~ seconds ~ ')'] -%}
  {%- endif -%}
  {%- set known = [] -%}
  {%- for each in digits -%}{%- do known.append(versioned_collapsing._digits_sql(each)) -%}{%- endfor -%}
  {%- do return(
      'arrayExists(_dbt_time -> notEmpty(_dbt_time) and ' ~ stored ~ ' = ' ~ written ~ ', [' ~ parts ~ '])'
      ~ ' or (match(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal('^[0-9]+(\\.[0-9]*)?$') ~ ') and has(['
      ~ known | join(', ')
      ~ '], ' ~ versioned_collapsing._digits_sql(text) ~ '))'
  ) -%}
{% endmacro %}

{# A time as ClickHouse would write it, from its parts. The second has as many decimal digits as the type, or more if
   more are given. #}
{% macro _written_time_sql(parts, scale) %}
  {%- set written = [parts ~ '[1]'] -%}
  {%- for separator in ('-', '-', ' ', ':', ':') -%}
    {%- do written.append(
        versioned_collapsing.quote_literal(separator) ~ ', leftPad(' ~ parts ~ '[' ~ (loop.index + 1) ~ "], 2, '0')"
    ) -%}
  {%- endfor -%}
  {%- set fraction = "trim(trailing '0' from " ~ parts ~ '[7])' -%}
  {%- set padded = 'rightPad(' ~ fraction ~ ', greatest(' ~ scale ~ ', length(' ~ fraction ~ ")), '0')" -%}
  {%- do return('concat(' ~ written | join(', ') ~ ', if(' ~ padded ~ " = '', '', '.'), " ~ padded ~ ')') -%}
{% endmacro %}

{# The seconds of a time zone offset such as +01:00, +0100 or -01; 0 for Z. #}
{% macro _offset_sql(text) %}
  {%- set digits = 'replaceOne(' ~ text ~ ", ':', '')" -%}
  {%- set hours = 'toInt64OrZero(substring(' ~ digits ~ ', 2, 2))' -%}
  {%- set minutes = 'toInt64OrZero(substring(' ~ digits ~ ', 4, 2))' -%}
  {%- do return(
      'if(match(' ~ text ~ ", '^[+-]'), (" ~ hours ~ ' * 60 + ' ~ minutes ~ ') * if(startsWith(' ~ text
      ~ ", '-'), -60, 60), 0)"
  ) -%}
{% endmacro %}

{% macro _digits_sql(text) %}
  {%- do return("trim(both '0' from " ~ versioned_collapsing.get_replaced_sql(text, '[^0-9]', '') ~ ')') -%}
{% endmacro %}

{# Whether two JSON documents have the same texts and numbers, in any order: ClickHouse sorts the keys, and drops nulls
   and empty objects. #}
{% macro _json_text_fits_sql(text, stored) %}
  {%- set string = '"(?:[^"\\\\]|\\\\.)*"' -%}
  {%- set sides = [] -%}
  {%- for side in (text, stored) -%}
    {%- set document = versioned_collapsing.get_replaced_sql(side, string ~ '\\s*:\\s*(null|[{]\\s*[}])', '') -%}
    {%- set texts = 'extractAll(' ~ document ~ ', ' ~ versioned_collapsing.quote_literal(string) ~ ')' -%}
    {%- set rest = versioned_collapsing.get_replaced_sql(document, string, '') -%}
    {%- set numbers = 'extractAll(' ~ rest ~ ", '-?[0-9][-+.eE0-9]*')" -%}
    {%- do sides.append(
        'arraySort(arrayConcat(arrayMap(_dbt_text -> JSONExtractString(_dbt_text), ' ~ texts
        ~ '), arrayMap(_dbt_text -> '
        ~ versioned_collapsing._number_sql('_dbt_text') ~ ', ' ~ numbers ~ ')))'
    ) -%}
  {%- endfor -%}
  {%- do return(sides | join(' = ')) -%}
{% endmacro %}

{# The text of a nested value without the blanks between its parts. #}
{% macro _without_blanks_sql(text) %}
  {%- do return(versioned_collapsing.get_replaced_sql(text, "('(?:[^'\\\\]|\\\\.)*')|\\s+", '\\1')) -%}
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
  {%- set is_null = 'isNull(' ~ value ~ ')' -%}
  {%- set can_be_null = versioned_collapsing.is_nullable_type(given_type) -%}
  {%- if versioned_collapsing.get_base_type(given_type) != versioned_collapsing.get_base_type(type) -%}
    {%- set cast = versioned_collapsing.get_cast_or_null_sql(value, given_type, type, depth + 1) -%}
    {%- set fits = versioned_collapsing.get_fits_sql(value, cast, given_type, type, depth + 1) -%}
    {%- set fits = 'ifNull(' ~ fits ~ ', false)' -%}
    {%- do return(
        '(' ~ is_null ~ ' or ' ~ fits ~ ')' if can_be_null and versioned_collapsing.is_nullable_type(type) else fits
    ) -%}
  {%- endif -%}
  {%- do return('not ' ~ is_null if can_be_null and not versioned_collapsing.is_nullable_type(type) else 'true') -%}
{% endmacro %}
