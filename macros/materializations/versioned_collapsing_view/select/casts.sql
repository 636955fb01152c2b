{# Whether a function is a cast that changes no value, so that the cast of a sum is the sum of the casts. The new number
   type must hold all numbers of the old one. A float, for example, does not hold all integers of 64 bits. #}
{% macro _is_exact_cast(given_type, node) %}
  {%- set cast = '_?CAST|accurateCast|toNullable|toLowCardinality|to(U?Int|Decimal|Float)\\d+' -%}
  {%- if not modules.re.fullmatch(cast, node.name) -%}{%- do return(false) -%}{%- endif -%}
  {%- set given = versioned_collapsing._get_number(given_type) -%}
  {%- set wanted = versioned_collapsing._get_number(node.type) -%}
  {%- set keeps_null = versioned_collapsing.is_nullable_type(node.type)
      or not versioned_collapsing.is_nullable_type(given_type) -%}
  {%- do return(
      keeps_null and given is not none and wanted is not none and wanted.kind in given.fit
      and wanted.whole >= given.whole + (1 if given.kind == 'UInt' and wanted.kind == 'Int' else 0)
      and wanted.fraction >= given.fraction
  ) -%}
{% endmacro %}


{# What a number type holds: its digits before and after the point, and the kinds of numbers to which it can be cast.
   Integers and floats are measured in bits. None for a type that is no number type. #}
{% macro _get_number(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- set decimal = modules.re.fullmatch('Decimal\\((\\d+), (\\d+)\\)', base) -%}
  {%- set other = modules.re.fullmatch('(U?Int|Float)(\\d+)', base) -%}
  {%- if decimal -%}
    {%- set digits, scale = decimal[1] | int, decimal[2] | int -%}
    {%- do return({'kind': 'Decimal', 'fit': ['Decimal'], 'whole': digits - scale, 'fraction': scale}) -%}
  {%- elif other -%}
    {%- set kind = other[1] -%}
    {%- set fit = {'UInt': ['UInt', 'Int'], 'Int': ['Int'], 'Float': ['Float']}[kind] -%}
    {%- do return({'kind': kind, 'fit': fit, 'whole': other[2] | int, 'fraction': 0}) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}


{# Whether a node is the constant 0, or null, which adds nothing to a sum either. #}
{% macro _is_zero(node) %}
  {%- do return(
      node.kind == 'CONSTANT' and modules.re.fullmatch('NULL|(?:[A-Z]\\w*_)?-?0(?:[.]0*)?', node.name) is not none
  ) -%}
{% endmacro %}
