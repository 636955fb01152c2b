{# The words of a type, without quoted names: the names of an Enum's values and of a Tuple's elements are no types. #}
{% macro get_type_words(type) %}
  {%- set quoted = "'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`" -%}
  {%- do return(modules.re.findall('\\w+', modules.re.sub(quoted, '', type))) -%}
{% endmacro %}


{# Whether a type holds floats. Among floats, NaN equals nothing, and 0.0 and -0.0 are equal but not the same. #}
{% macro has_floats(type) %}
  {%- do return(
      versioned_collapsing.get_type_words(type) | select('in', ('Float32', 'Float64', 'BFloat16')) | list != []
  ) -%}
{% endmacro %}


{# Whether the values of a type have one order, in whatever sequence they are compared. A null or NaN is ignored if it
   is the whole value. Inside another value, it is neither less nor greater. #}
{% macro has_order(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- set words = versioned_collapsing.get_type_words(base) -%}
  {%- set unordered = words | select('in', ('Nullable', 'Map', 'JSON', 'Variant', 'Dynamic', 'Nested')) | list -%}
  {%- do return(
      unordered == [] and not (versioned_collapsing.has_parts(base) and versioned_collapsing.has_floats(base))
  ) -%}
{% endmacro %}


{# Why a column cannot be a key of a table. Two values that ClickHouse sorts as equal must be the same, because a merge
   makes one row of them. #}
{% macro get_key_type_problems(name, type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- if versioned_collapsing.has_floats(base) -%}
    {%- do return([
        "order_by: " ~ name ~ " is " ~ type ~ ", and floats do not pair reliably (0.0 and -0.0). Use an integer or a "
        ~ "Decimal."
    ]) -%}
  {%- elif not (versioned_collapsing.has_order(base) or base.startswith('Map(')) -%}
    {%- do return([
        "order_by: " ~ name ~ " is " ~ type ~ ", and values of this type have no reliable order, so they cannot be a "
        ~ "key. Select what identifies the entity as a separate column."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
