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


{# Whether a type cannot be inside Nullable. Its values are cast as a whole. #}
{% macro is_nested_type(type) %}
  {%- set nested = ('Array(', 'Map(', 'Tuple(', 'Nested(', 'JSON', 'Variant(', 'Dynamic') -%}
  {%- do return(versioned_collapsing.get_base_type(type).startswith(nested)) -%}
{% endmacro %}


{# Whether a type has parts with types of their own. #}
{% macro has_parts(type) %}
  {%- do return(versioned_collapsing.get_base_type(type).startswith(('Array(', 'Map(', 'Tuple('))) -%}
{% endmacro %}


{# A type of times with the time zone UTC. Any other type stays as it is. #}
{% macro get_utc_type(type) %}
  {%- set scale = modules.re.findall('^DateTime64\\((\\d)', type) | first -%}
  {%- do return(
      "DateTime64(" ~ scale ~ ", 'UTC')" if scale else "DateTime('UTC')" if type.startswith('DateTime')
      else type
  ) -%}
{% endmacro %}


{# Whether an integer type holds all values of another one, and more. #}
{% macro is_wider_integer(stored, declared) %}
  {%- set types = [] -%}
  {%- for type in (stored, declared or '') -%}
    {%- for unsigned, bits in modules.re.findall('^(U?)Int(8|16|32|64|128|256)$', type) -%}
      {%- do types.append({'is_signed': unsigned == '', 'bits': bits | int}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(
      types | length == 2 and types[1].bits > types[0].bits and (types[1].is_signed or not types[0].is_signed)
  ) -%}
{% endmacro %}
