{# Whether a type can hold null. #}
{% macro is_nullable_type(type) %}
  {%- do return(type.startswith(('Nullable(', 'LowCardinality(Nullable(', 'Variant(', 'Dynamic'))) -%}
{% endmacro %}

{# Whether a type cannot be inside Nullable. Its values are cast as a whole. #}
{% macro is_nested_type(type) %}
  {%- set nested = ('Array(', 'Map(', 'Tuple(', 'Nested(', 'JSON', 'Variant(', 'Dynamic') -%}
  {%- do return(versioned_collapsing.get_base_type(type).startswith(nested)) -%}
{% endmacro %}

{# A type without LowCardinality and Nullable around it. #}
{% macro get_base_type(type) %}
  {%- set inner = namespace(type=type | trim) -%}
  {%- for wrapper in ('LowCardinality(', 'Nullable(') if inner.type.startswith(wrapper) -%}
    {%- set inner.type = inner.type[wrapper | length : -1] -%}
  {%- endfor -%}
  {%- do return(inner.type) -%}
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

{# Whether a type holds every value of another one unchanged, so that ClickHouse can alter a column. #}
{% macro is_wider_type(stored, type) %}
  {%- set bases = [versioned_collapsing.get_base_type(stored), versioned_collapsing.get_base_type(type)] -%}
  {%- if versioned_collapsing.is_nullable_type(stored) and not versioned_collapsing.is_nullable_type(type) -%}
    {%- do return(false) -%}
  {%- elif bases[0] == bases[1] or bases == ['Float32', 'Float64'] -%}
    {%- do return(true) -%}
  {%- elif bases[0].startswith('Enum') and bases[1].startswith('Enum') -%}
    {%- set values = [] -%}
    {%- for base in bases -%}
      {%- do values.append(modules.re.findall("('(?:[^'\\\\]|\\\\.)*' = -?\\d+)", base)) -%}
    {%- endfor -%}
    {%- do return(values[0] | reject('in', values[1]) | list == []) -%}
  {%- endif -%}
  {%- set decimals = modules.re.findall('Decimal\\((\\d+), (\\d+)\\)', bases | join(' ')) -%}
  {%- if decimals | length == 2 -%}
    {%- set whole = decimals[1][0] | int - decimals[1][1] | int - (decimals[0][0] | int - decimals[0][1] | int) -%}
    {%- do return(whole >= 0 and decimals[1][1] | int >= decimals[0][1] | int) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.is_wider_integer(bases[0], bases[1])) -%}
{% endmacro %}

{# The names of an Enum, or its numbers, as literals. #}
{% macro get_enum_values(type, is_name) %}
  {%- set found = modules.re.findall("('(?:[^'\\\\]|\\\\.)*') = (-?\\d+)", type) -%}
  {%- do return(found | map(attribute=0 if is_name else 1) | list) -%}
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

{# Whether a type holds floats. Among floats, NaN equals nothing, and 0.0 and -0.0 are equal but not the same. #}
{% macro has_floats(type) %}
  {%- do return(
      versioned_collapsing.get_type_words(type) | select('in', ('Float32', 'Float64', 'BFloat16')) | list != []
  ) -%}
{% endmacro %}

{# The words of a type, except quoted names: the names of an Enum's values and of a Tuple's elements are not types. #}
{% macro get_type_words(type) %}
  {%- set quoted = "'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`" -%}
  {%- do return(modules.re.findall('\\w+', modules.re.sub(quoted, '', type))) -%}
{% endmacro %}

{# Whether the values of a type have a total order, in whatever sequence they are compared. A value that is null or NaN
   is ignored as a whole; inside another value, null or NaN is neither less nor greater. #}
{% macro has_order(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- set words = versioned_collapsing.get_type_words(base) -%}
  {%- set unordered = words | select('in', ('Nullable', 'Map', 'JSON', 'Variant', 'Dynamic', 'Nested')) | list -%}
  {%- do return(
      unordered == [] and not (versioned_collapsing.has_parts(base) and versioned_collapsing.has_floats(base))
  ) -%}
{% endmacro %}

{# Whether a type has parts with types of their own. #}
{% macro has_parts(type) %}
  {%- do return(versioned_collapsing.get_base_type(type).startswith(('Array(', 'Map(', 'Tuple('))) -%}
{% endmacro %}

{# NaN equals nothing, not even itself: floats compare by their text. #}
{% macro get_comparable_sql(expression, type) %}
  {%- do return('toString(' ~ expression ~ ')' if 'Float' in type else expression) -%}
{% endmacro %}

{# Whether ClickHouse can convert one type to another in a way that get_problem_sql can check. Tuples with other names
   or of another length would lose elements, and a Variant takes only its own types. #}
{% macro can_convert(given_type, type) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- if base == given -%}
    {%- do return(true) -%}
  {%- elif versioned_collapsing.get_value_text_sql('x', given_type, type) -%}
    {%- do return('Map' not in versioned_collapsing.get_type_words(base)) -%}
  {%- elif base.startswith('Variant(') -%}
    {%- set known = versioned_collapsing.get_type_arguments(base) -%}
    {%- set given_types = versioned_collapsing.get_type_arguments(given) if given.startswith('Variant(')
        else [given] -%}
    {%- do return(given_types | reject('in', known) | list == []) -%}
  {%- elif not (versioned_collapsing.has_parts(base) or versioned_collapsing.has_parts(given)) -%}
    {%- do return(true) -%}
  {%- elif base.startswith(('String', 'Dynamic', 'JSON')) -%}
    {%- do return(true) -%}
  {%- elif given.split('(')[0] != base.split('(')[0] -%}
    {%- do return(false) -%}
  {%- elif base.startswith('Tuple(') -%}
    {%- do return(versioned_collapsing._can_convert_tuple(given, base)) -%}
  {%- endif -%}
  {%- set types = versioned_collapsing.get_type_arguments(base) -%}
  {%- for part in versioned_collapsing.get_type_arguments(given) -%}
    {%- if not versioned_collapsing.can_convert(part, types[loop.index0]) -%}
      {%- do return(false) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}

{# The text of a value that is compared by its text; none for another value. A float becomes a Decimal by its digits,
   because 0.29 times a hundred is below 29. A Decimal becomes text, because a cast to an integer that cannot hold it
   would stop the statement. Enums are the same if their names are. #}
{% macro get_value_text_sql(value, given_type, type) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- if given == 'String' -%}
    {%- do return(value) -%}
  {%- elif given.startswith('FixedString(') and base != 'String' -%}
    {%- do return(versioned_collapsing.get_replaced_sql('toString(' ~ value ~ ')', '\\0+$', '')) -%}
  {%- elif given.startswith(('Variant(', 'Dynamic'))
      or (given.startswith('Enum') and base.startswith('Enum'))
      or ('Float' in given.split('(')[0] and base.startswith('Decimal')) -%}
    {%- do return('toString(' ~ value ~ ')') -%}
  {%- elif given.startswith('Decimal') and not base.startswith(('Decimal', 'String', 'Dynamic', 'JSON')) -%}
    {%- do return(versioned_collapsing.get_without_zeros_sql('toString(' ~ value ~ ')')) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}

{# The arguments between the outer parentheses of a type, split at its commas: `Map(String, Int8)` has String and
   Int8. #}
{% macro get_type_arguments(type) %}
  {%- do return(versioned_collapsing.split_top_level(type[type.index('(') + 1 : -1])) -%}
{% endmacro %}

{% macro _can_convert_tuple(given_type, type) %}
  {%- set given = versioned_collapsing.get_tuple_elements(given_type) -%}
  {%- set wanted = versioned_collapsing.get_tuple_elements(type) -%}
  {%- set given_names = given | map(attribute='name') | select | list -%}
  {%- set names = wanted | map(attribute='name') | select | list -%}
  {%- if given | length != wanted | length or (given_names and names
      and given_names | sort(case_sensitive=true) != names | sort(case_sensitive=true)) -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- for pair in versioned_collapsing.get_tuple_pairs('x', given_type, type) -%}
    {%- if not versioned_collapsing.can_convert(pair.given_type, pair.type) -%}
      {%- do return(false) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}

{# The parts of a Tuple, each with its name, which may be none. #}
{% macro get_tuple_elements(type) %}
  {%- set elements = [] -%}
  {%- for argument in versioned_collapsing.get_type_arguments(type) -%}
    {%- set named = modules.re.fullmatch('(`(?:[^`\\\\]|\\\\.)*`|\\w+) +(.+)', argument, modules.re.S) -%}
    {%- do elements.append({
        'name': named[1].strip('`') if named else none,
        'type': named[2] if named else argument,
    }) -%}
  {%- endfor -%}
  {%- do return(elements) -%}
{% endmacro %}

{# The elements of one Tuple that become those of another: matched by name if both have the same names, otherwise by
   position. #}
{% macro get_tuple_pairs(value, given_type, type) %}
  {%- set given = versioned_collapsing.get_tuple_elements(given_type) -%}
  {%- set wanted = versioned_collapsing.get_tuple_elements(type) -%}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set wanted_names = wanted | map(attribute='name') | map('string') | sort(case_sensitive=true) -%}
  {%- set is_by_name = none not in names and names | sort(case_sensitive=true) == wanted_names -%}
  {%- set pairs = [] -%}
  {%- for element in wanted -%}
    {%- set at = names.index(element.name) if is_by_name else loop.index0 -%}
    {%- do pairs.append({
        'value': 'tupleElement(' ~ value ~ ', ' ~ (at + 1) ~ ')',
        'given_type': given[at].type,
        'type': element.type,
    }) -%}
  {%- endfor -%}
  {%- do return(pairs) -%}
{% endmacro %}
