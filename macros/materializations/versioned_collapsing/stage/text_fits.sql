{# The condition that a text says the same as the value that is stored of it; none if nothing can be lost. #}
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


{# The text of a nested value without the blanks between its parts. #}
{% macro _without_blanks_sql(text) %}
  {%- do return(versioned_collapsing.get_replaced_sql(text, "('(?:[^'\\\\]|\\\\.)*')|\\s+", '\\1')) -%}
{% endmacro %}
