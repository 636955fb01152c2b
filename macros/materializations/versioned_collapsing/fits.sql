{# Whether a value is the same in another type: `cast` is the value in that type, or null. A text is the same when what
   is stored, written down again, says the same; all else when it comes back as it was given. #}
{% macro _fits_sql(value, cast, given_type, type, depth) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- set text = versioned_collapsing._text_sql(value, given_type, type) -%}
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
    {%- do return('isNotNull(' ~ cast ~ ')' ~ (' and toString(' ~ cast ~ ') = toString(' ~ value ~ ')' if given.startswith('JSON') else '')) -%}
  {%- endif -%}
  {%- set back = 'accurateCastOrNull(' ~ cast ~ ', ' ~ versioned_collapsing.quote_literal(given) ~ ')' -%}
  {%- do return(
      'isNotNull(' ~ cast ~ ') and ' ~ versioned_collapsing._comparable_sql(back, given) ~ ' <=> '
      ~ versioned_collapsing._comparable_sql(value, given)
  ) -%}
{% endmacro %}


{# NaN equals nothing, not even itself: floats compare by their text. #}
{% macro _comparable_sql(expression, type) %}
  {%- do return('toString(' ~ expression ~ ')' if 'Float' in type else expression) -%}
{% endmacro %}


{# The text of a value that is judged by its text; none of others. A float becomes a Decimal by its digits: 0.29 times
   a hundred is below 29. A Decimal that an integer cannot hold would stop the statement. Enums are the same when their
   names are. #}
{% macro _text_sql(value, given_type, type) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- if given == 'String' -%}
    {%- do return(value) -%}
  {%- elif given.startswith('FixedString(') and base != 'String' -%}
    {%- do return(versioned_collapsing._replace_sql('toString(' ~ value ~ ')', '\\0+$', '')) -%}
  {%- elif given.startswith(('Variant(', 'Dynamic'))
      or (given.startswith('Enum') and base.startswith('Enum'))
      or ('Float' in given.split('(')[0] and base.startswith('Decimal')) -%}
    {%- do return('toString(' ~ value ~ ')') -%}
  {%- elif given.startswith('Decimal') and not base.startswith(('Decimal', 'String', 'Dynamic', 'JSON')) -%}
    {%- do return(versioned_collapsing._without_zeros_sql('toString(' ~ value ~ ')')) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}


{# Whether the parts of an Array, Map or Tuple fit. Keys of a Map must stay apart. #}
{% macro _parts_fit_sql(value, given_type, type, depth) %}
  {%- set conditions = [] -%}
  {%- if type.startswith('Tuple(') -%}
    {%- for pair in versioned_collapsing._tuple_pairs(value, given_type, type) -%}
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
    {%- do return('(' ~ is_null ~ ' or ' ~ fits ~ ')' if can_be_null and versioned_collapsing.is_nullable_type(type) else fits) -%}
  {%- endif -%}
  {%- do return('not ' ~ is_null if can_be_null and not versioned_collapsing.is_nullable_type(type) else 'true') -%}
{% endmacro %}


{# Whether a text that ClickHouse can read says what is stored of it; none where nothing can be lost. #}
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
    {%- set texts = [versioned_collapsing._without_zeros_sql(stored), versioned_collapsing._without_zeros_sql(text)] -%}
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


{# A text of a number as sign, digits and exponent: 1.50, +1.5 and 15e-1 are one number. What is none, as nan, has an
   empty text. #}
{% macro _number_sql(text) %}
  {%- set pattern = versioned_collapsing.quote_literal('^([+-]?)([0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE]([+-]?[0-9]+))?$') -%}
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


{# A float is stored as the nearest one that there is. It is what was given when its shortest text, one with as many
   digits as tell floats apart, or all its digits are the same number: 0.10000000000000001 is 0.1, and no Float32 is
   16777217. #}
{% macro _float_text_fits_sql(text, cast, type) %}
  {%- set number = versioned_collapsing._number_sql(text) -%}
  {%- set known = [versioned_collapsing._number_sql('toString(' ~ cast ~ ')')] -%}
  {%- for digits in {'Float32': (7, 8, 40), 'Float64': (15, 16, 40)}.get(type, ()) -%}
    {%- set format = versioned_collapsing.quote_literal('%.' ~ digits ~ 'e') -%}
    {%- do known.append(versioned_collapsing._number_sql('printf(' ~ format ~ ', ' ~ cast ~ ')')) -%}
  {%- endfor -%}
  {%- do return('(isFinite(' ~ cast ~ ') or ' ~ number ~ " = '') and has([" ~ known | join(', ') ~ '], ' ~ number ~ ')') -%}
{% endmacro %}


{# A text of a date or a time: its parts are put together as ClickHouse writes what it has stored. A time with an
   offset is compared at that offset. Seconds since 1970 and 20250131 are compared by their digits. #}
{% macro _time_text_fits_sql(text, cast, type) %}
  {%- set pattern = '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})'
      ~ '(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\\.([0-9]*))?)?)? ?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?$' -%}
  {%- set parts = 'extractGroups(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ')' -%}
  {%- set is_date = type in ('Date', 'Date32') -%}
  {%- set scale = modules.re.match('DateTime64\\((\\d)', type) -%}
  {%- set scale = scale.group(1) | int if scale else 0 -%}
  {%- set written = versioned_collapsing._written_time_sql('_dbt_time', scale) -%}
  {%- set offset = versioned_collapsing._offset_sql('_dbt_time[8]') -%}
  {%- if is_date -%}
    {%- set stored = 'if(' ~ offset ~ ' = 0, toString(' ~ cast ~ ") || ' 00:00:00', '')" -%}
    {%- set digits = ['toString(' ~ cast ~ ')'] -%}
  {%- else -%}
    {%- set at_offset = 'toString(addSeconds(toTimeZone(' ~ cast ~ ", 'UTC'), " ~ offset ~ '))' -%}
    {%- set stored = "if(_dbt_time[8] = '', toString(" ~ cast ~ '), ' ~ at_offset ~ ')' -%}
    {%- set seconds = 'toDecimal128(' ~ cast ~ ', 9)' if type.startswith('DateTime64') else 'toUnixTimestamp(' ~ cast ~ ')' -%}
    {%- set digits = ['toString(' ~ cast ~ ')', 'toString(' ~ seconds ~ ')'] -%}
  {%- endif -%}
  {%- set known = [] -%}
  {%- for each in digits -%}{%- do known.append(versioned_collapsing._digits_sql(each)) -%}{%- endfor -%}
  {%- do return(
      'arrayExists(_dbt_time -> notEmpty(_dbt_time) and ' ~ stored ~ ' = ' ~ written ~ ', [' ~ parts ~ '])'
      ~ ' or (match(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal('^[0-9]+(\\.[0-9]*)?$') ~ ') and has([' ~ known | join(', ')
      ~ '], ' ~ versioned_collapsing._digits_sql(text) ~ '))'
  ) -%}
{% endmacro %}


{# The parts of a time as ClickHouse would write them, with as many digits of the second as its type has, or more if
   more are given. #}
{% macro _written_time_sql(parts, scale) %}
  {%- set written = [parts ~ '[1]'] -%}
  {%- for separator in ('-', '-', ' ', ':', ':') -%}
    {%- do written.append(versioned_collapsing.quote_literal(separator) ~ ', leftPad(' ~ parts ~ '[' ~ (loop.index + 1) ~ "], 2, '0')") -%}
  {%- endfor -%}
  {%- set fraction = "trim(trailing '0' from " ~ parts ~ '[7])' -%}
  {%- set padded = 'rightPad(' ~ fraction ~ ', greatest(' ~ scale ~ ', length(' ~ fraction ~ ")), '0')" -%}
  {%- do return('concat(' ~ written | join(', ') ~ ', if(' ~ padded ~ " = '', '', '.'), " ~ padded ~ ')') -%}
{% endmacro %}


{# The seconds of an offset: of +01:00, +0100 or -01; none of Z. #}
{% macro _offset_sql(text) %}
  {%- set digits = 'replaceOne(' ~ text ~ ", ':', '')" -%}
  {%- set hours = 'toInt64OrZero(substring(' ~ digits ~ ', 2, 2))' -%}
  {%- set minutes = 'toInt64OrZero(substring(' ~ digits ~ ', 4, 2))' -%}
  {%- do return(
      'if(match(' ~ text ~ ", '^[+-]'), (" ~ hours ~ ' * 60 + ' ~ minutes ~ ') * if(startsWith(' ~ text ~ ", '-'), -60, 60), 0)"
  ) -%}
{% endmacro %}


{% macro _digits_sql(text) %}
  {%- do return("trim(both '0' from " ~ versioned_collapsing._replace_sql(text, '[^0-9]', '') ~ ')') -%}
{% endmacro %}


{# 10:00:00.500 is 10:00:00.5. #}
{% macro _without_zeros_sql(text) %}
  {%- do return(versioned_collapsing._replace_sql(text, '\\.0*$|(\\.[0-9]*[1-9])0+$', '\\1')) -%}
{% endmacro %}


{# The text of a nested value without the blanks between its parts. #}
{% macro _without_blanks_sql(text) %}
  {%- do return(versioned_collapsing._replace_sql(text, "('(?:[^'\\\\]|\\\\.)*')|\\s+", '\\1')) -%}
{% endmacro %}


{% macro _replace_sql(text, pattern, replacement) %}
  {%- do return(
      'replaceRegexpAll(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ', '
      ~ versioned_collapsing.quote_literal(replacement) ~ ')'
  ) -%}
{% endmacro %}


{# Whether the texts and numbers of two JSON documents are the same, in any order: ClickHouse sorts the keys, and keeps
   neither nulls nor empty objects. #}
{% macro _json_text_fits_sql(text, stored) %}
  {%- set string = '"(?:[^"\\\\]|\\\\.)*"' -%}
  {%- set sides = [] -%}
  {%- for side in (text, stored) -%}
    {%- set document = versioned_collapsing._replace_sql(side, string ~ '\\s*:\\s*(null|[{]\\s*[}])', '') -%}
    {%- set texts = 'extractAll(' ~ document ~ ', ' ~ versioned_collapsing.quote_literal(string) ~ ')' -%}
    {%- set rest = versioned_collapsing._replace_sql(document, string, '') -%}
    {%- set numbers = 'extractAll(' ~ rest ~ ", '-?[0-9][-+.eE0-9]*')" -%}
    {%- do sides.append(
        'arraySort(arrayConcat(arrayMap(_dbt_text -> JSONExtractString(_dbt_text), ' ~ texts ~ '), arrayMap(_dbt_text -> '
        ~ versioned_collapsing._number_sql('_dbt_text') ~ ', ' ~ numbers ~ ')))'
    ) -%}
  {%- endfor -%}
  {%- do return(sides | join(' = ')) -%}
{% endmacro %}
