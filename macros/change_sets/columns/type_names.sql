{# A type in one spelling: `DEC(12, 2)` is `decimal(12,2)`. #}
{% macro get_type_name(type) %}
  {%- set name = modules.re.sub('\\s', '', type | lower) -%}
  {%- set kind = modules.re.sub('[^a-z_].*', '', name) -%}
  {%- set found = versioned_collapsing._get_type_names().get(kind, kind) ~ name[kind | length:] -%}
  {%- do return('decimal(10,0)' if found == 'decimal' else found) -%}
{% endmacro %}


{% macro get_type_names(columns) %}
  {%- set found = {} -%}
  {%- for name, type in columns.items() -%}
    {%- do found.update({name: versioned_collapsing.get_type_name(type)}) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}


{% macro get_kind(type) %}
  {%- do return(versioned_collapsing.get_type_name(type).split('(')[0]) -%}
{% endmacro %}


{# The types that have other names in Spark, by these names. #}
{% macro _get_type_names() %}
  {%- do return({
      'byte': 'tinyint', 'short': 'smallint', 'integer': 'int', 'long': 'bigint', 'real': 'float',
      'dec': 'decimal', 'numeric': 'decimal', 'timestamp_ltz': 'timestamp',
  }) -%}
{% endmacro %}
