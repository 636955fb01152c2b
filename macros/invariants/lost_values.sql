{# Whether the truth is another value than its cast: a number with more digits, a time with a finer fraction, what does
   not fit. A cast that comes back as it was has lost nothing; text is looked at by itself, for `1.20` is 1.2. #}
{% macro _get_is_lost_sql(column) %}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- set given = versioned_collapsing.get_base_type(column.given_type) -%}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set value = versioned_collapsing.get_true_value_sql(column) -%}
  {%- if type == given or type == 'String' -%}{%- do return('false') -%}{%- endif -%}
  {%- if versioned_collapsing.is_nested_type(type) or versioned_collapsing.is_nested_type(given) -%}
    {%- set back = 'cast(' ~ value ~ ', ' ~ versioned_collapsing.quote_literal(column.given_type) ~ ')' -%}
    {%- set is_lost = 'cityHash64(tuple(' ~ back ~ ')) <> cityHash64(tuple(' ~ name ~ '))' -%}
    {%- do return('false' if given == 'String' else is_lost) -%}
  {%- endif -%}
  {%- if given == 'String' or given.startswith('FixedString') -%}
    {%- set differs = versioned_collapsing._get_text_is_lost_sql('toString(' ~ name ~ ')', value, type) -%}
  {%- else -%}
    {%- set back = versioned_collapsing._get_exact_cast_sql(value, type, given) -%}
    {%- set differs = 'not (' ~ back ~ ' <=> ' ~ name ~ ' or toString(' ~ back ~ ') <=> toString(' ~ name ~ '))' -%}
  {%- endif -%}
  {%- do return('isNotNull(' ~ name ~ ') and (isNull(' ~ value ~ ') or ' ~ differs ~ ')') -%}
{% endmacro %}


{# Whether text says more than the value that was read from it. #}
{% macro _get_text_is_lost_sql(text, value, type) %}
  {%- if type.startswith('Decimal') -%}
    {%- do return('not (toDecimal256OrNull(' ~ text ~ ', 38) <=> toDecimal256OrNull(toString(' ~ value ~ '), 38))') -%}
  {%- elif type.startswith(('Int', 'UInt')) -%}
    {%- set digits = "replaceRegexpOne(trim(" ~ text ~ "), '^([+]|(-))?0*([0-9])', '\\\\2\\\\3')" -%}
    {%- do return("not (" ~ digits ~ " <=> toString(" ~ value ~ "))") -%}
  {%- elif type.startswith('Date') -%}
    {#- What is written of the value begins the text, and nothing but zeros and signs come after it. -#}
    {%- set written = "replaceRegexpOne(toString(" ~ value ~ "), '[.]0*$|([.][0-9]*[1-9])0+$', '\\\\1')" -%}
    {%- set begins = "startsWith(replaceOne(" ~ text ~ ", 'T', ' '), " ~ written ~ ")" -%}
    {%- set goes_on = "match(substring(" ~ text ~ ", length(" ~ written ~ ") + 1), '[1-9]')" -%}
    {%- do return('not ' ~ begins ~ ' or ' ~ goes_on) -%}
  {%- endif -%}
  {%- do return('false') -%}
{% endmacro %}
