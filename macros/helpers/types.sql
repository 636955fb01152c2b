{# A type without LowCardinality and Nullable around it. #}
{% macro get_base_type(type) %}
  {%- set inner = namespace(type=type | trim) -%}
  {%- for wrapper in ('LowCardinality(', 'Nullable(') if inner.type.startswith(wrapper) -%}
    {%- set inner.type = inner.type[wrapper | length : -1] -%}
  {%- endfor -%}
  {%- do return(inner.type) -%}
{% endmacro %}


{# Whether a type has null among its values. #}
{% macro is_nullable_type(type) %}
  {%- do return(type.startswith(('Nullable(', 'LowCardinality(Nullable(', 'Variant(', 'Dynamic'))) -%}
{% endmacro %}


{# Types that cannot stand in Nullable, and are cast whole. #}
{% macro is_nested_type(type) %}
  {%- set nested = ('Array(', 'Map(', 'Tuple(', 'Nested(', 'JSON', 'Variant(', 'Dynamic') -%}
  {%- do return(versioned_collapsing.get_base_type(type).startswith(nested)) -%}
{% endmacro %}


{# Types whose parts have types of their own. #}
{% macro has_parts(type) %}
  {%- do return(versioned_collapsing.get_base_type(type).startswith(('Array(', 'Map(', 'Tuple('))) -%}
{% endmacro %}


{# A type without the names in it: what an Enum's values and a Tuple's elements are called is no type. #}
{% macro get_type_words(type) %}
  {%- set quoted = "'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`" -%}
  {%- do return(modules.re.findall('\\w+', modules.re.sub(quoted, '', type))) -%}
{% endmacro %}


{# Whether a type holds floats, of which NaN equals nothing and 0.0 and -0.0 are equal and not the same. #}
{% macro has_floats(type) %}
  {%- do return(versioned_collapsing.get_type_words(type) | select('in', ('Float32', 'Float64', 'BFloat16')) | list != []) -%}
{% endmacro %}


{# Whether values of a type have one order, whichever are compared first. A null, or NaN, as the whole value counts as
   nothing; inside of another value it is neither less nor greater. #}
{% macro has_order(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- set words = versioned_collapsing.get_type_words(base) -%}
  {%- set unordered = words | select('in', ('Nullable', 'Map', 'JSON', 'Variant', 'Dynamic', 'Nested')) | list -%}
  {%- do return(unordered == [] and not (versioned_collapsing.has_parts(base) and versioned_collapsing.has_floats(base))) -%}
{% endmacro %}
