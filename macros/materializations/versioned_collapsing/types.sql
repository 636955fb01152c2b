{# The columns of a query as ClickHouse says them, each type in one line: dbt-clickhouse calls every FixedString a
   String. #}
{% macro get_query_columns(sql) %}
  {%- set query = 'describe table ' ~ versioned_collapsing._subquery(sql) -%}
  {%- do return(versioned_collapsing._read_columns(query ~ ' ' ~ versioned_collapsing.get_settings_sql(none, {'print_pretty_type_names': 0}))) -%}
{% endmacro %}


{# The columns of a table that can be inserted: not those that it works out itself. #}
{% macro get_table_columns(relation) %}
  {%- set query -%}
    select name, type
    from system.columns
    where database = {{ versioned_collapsing._literal(relation.schema) }}
      and table = {{ versioned_collapsing._literal(relation.identifier) }}
      and default_kind in ('', 'DEFAULT')
    order by position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(versioned_collapsing._read_columns(query)) -%}
{% endmacro %}


{# Lets this session send statements that name a thousand columns and more. ClickHouse reads the limits before it reads
   the statement, so that they cannot stand in it; they change no result. #}
{% macro allow_wide_statements(columns) %}
  {%- if columns.table | length > 100 -%}
    {%- do run_query(
        'set max_query_size = 268435456, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000, '
        ~ 'max_parser_backtracks = 100000000'
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro _read_columns(query) %}
  {%- set columns = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do columns.append({'name': row['name'], 'type': row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}


{# Types in ClickHouse's own spelling, by the spelling that they have in the project: `BIGINT` is Int64. #}
{% macro get_canonical_types(types) %}
  {%- set canonical = {} -%}
  {%- for some in types | unique(true) | batch(500) -%}
    {%- set names = [] -%}
    {%- for type in some -%}
      {%- set default = 'defaultValueOfTypeName(' ~ versioned_collapsing._literal(type) ~ ')' -%}
      {%- do names.append('toTypeName(' ~ default ~ ')') -%}
    {%- endfor -%}
    {%- set query = 'select arrayJoin([' ~ names | join(', ') ~ ']) as _dbt_type' -%}
    {%- set found = run_query(query ~ ' ' ~ versioned_collapsing.get_settings_sql(none, {'print_pretty_type_names': 0})).columns[0].values() -%}
    {%- for type in some -%}
      {%- do canonical.update({type: found[loop.index0]}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(canonical) -%}
{% endmacro %}


{# A type without LowCardinality and Nullable around it. #}
{% macro _base_type(type) %}
  {%- set inner = namespace(type=type | trim) -%}
  {%- for wrapper in ('LowCardinality(', 'Nullable(') if inner.type.startswith(wrapper) -%}
    {%- set inner.type = inner.type[wrapper | length : -1] -%}
  {%- endfor -%}
  {%- do return(inner.type) -%}
{% endmacro %}


{# Whether a type has null among its values. #}
{% macro _is_nullable(type) %}
  {%- do return(type.startswith(('Nullable(', 'LowCardinality(Nullable(', 'Variant(', 'Dynamic'))) -%}
{% endmacro %}


{# Types that cannot stand in Nullable, and are cast whole. #}
{% macro _is_nested(type) %}
  {%- set nested = ('Array(', 'Map(', 'Tuple(', 'Nested(', 'JSON', 'Variant(', 'Dynamic') -%}
  {%- do return(versioned_collapsing._base_type(type).startswith(nested)) -%}
{% endmacro %}


{# Types whose parts have types of their own. #}
{% macro _has_parts(type) %}
  {%- do return(versioned_collapsing._base_type(type).startswith(('Array(', 'Map(', 'Tuple('))) -%}
{% endmacro %}


{# A type without the names in it: what an Enum's values and a Tuple's elements are called is no type. #}
{% macro _type_words(type) %}
  {%- set quoted = "'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`" -%}
  {%- do return(modules.re.findall('\\w+', modules.re.sub(quoted, '', type))) -%}
{% endmacro %}


{# Whether a type holds floats, of which NaN equals nothing and 0.0 and -0.0 are equal and not the same. #}
{% macro _has_floats(type) %}
  {%- do return(versioned_collapsing._type_words(type) | select('in', ('Float32', 'Float64', 'BFloat16')) | list != []) -%}
{% endmacro %}


{# Whether values of a type have one order, whichever are compared first. A null, or NaN, as the whole value counts as
   nothing; inside of another value it is neither less nor greater. #}
{% macro _has_order(type) %}
  {%- set base = versioned_collapsing._base_type(type) -%}
  {%- set words = versioned_collapsing._type_words(base) -%}
  {%- set unordered = words | select('in', ('Nullable', 'Map', 'JSON', 'Variant', 'Dynamic', 'Nested')) | list -%}
  {%- do return(unordered == [] and not (versioned_collapsing._has_parts(base) and versioned_collapsing._has_floats(base))) -%}
{% endmacro %}


{# What stands between the outer parentheses of a type, cut at its commas: `Map(String, Int8)` has String and
   Int8. #}
{% macro _type_arguments(type) %}
  {%- do return(versioned_collapsing._cut_at_commas(type[type.index('(') + 1 : -1])) -%}
{% endmacro %}


{% macro _cut_at_commas(text) %}
  {%- set arguments = [] -%}
  {%- set at = namespace(start=0) -%}
  {%- for token in versioned_collapsing._brackets_in(text) if token.text == ',' and token.depth == 0 -%}
    {%- do arguments.append(text[at.start : token.position] | trim) -%}
    {%- set at.start = token.position + 1 -%}
  {%- endfor -%}
  {%- do arguments.append(text[at.start :] | trim) -%}
  {%- do return(arguments) -%}
{% endmacro %}


{# Where the first bracket of a text is closed. #}
{% macro _closing_position(text) %}
  {%- for token in versioned_collapsing._brackets_in(text) if token.text != ',' and token.depth == 0 -%}
    {%- do return(token.position) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


{# The commas and brackets of a type or an expression that are in no name and no text: where each is, and how many
   brackets are open after it. #}
{% macro _brackets_in(text) %}
  {%- set tokens = [] -%}
  {%- set at = namespace(depth=0) -%}
  {%- for token in modules.re.finditer("'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`|[][(),]", text) -%}
    {%- set mark = token.group() -%}
    {%- set at.depth = at.depth + (1 if mark in '([' else -1 if mark in ')]' else 0) -%}
    {%- if mark | length == 1 -%}
      {%- do tokens.append({'text': mark, 'position': token.start(), 'depth': at.depth}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(tokens) -%}
{% endmacro %}


{# The parts of a Tuple, each with its name, which may be none. #}
{% macro _tuple_elements(type) %}
  {%- set elements = [] -%}
  {%- for argument in versioned_collapsing._type_arguments(type) -%}
    {%- set named = modules.re.fullmatch('(`(?:[^`\\\\]|\\\\.)*`|\\w+) +(.+)', argument, modules.re.S) -%}
    {%- do elements.append({
        'name': named.group(1).strip('`') if named else none,
        'type': named.group(2) if named else argument,
    }) -%}
  {%- endfor -%}
  {%- do return(elements) -%}
{% endmacro %}


{# The names of an Enum, or its numbers, as literals. #}
{% macro _enum_values(type, is_name) %}
  {%- set found = modules.re.findall("('(?:[^'\\\\]|\\\\.)*') = (-?\\d+)", type) -%}
  {%- do return(found | map(attribute=0 if is_name else 1) | list) -%}
{% endmacro %}
