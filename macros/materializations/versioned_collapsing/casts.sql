{# A column of the change set as the target stores it. Values that do not fit become defaults here and
   problems in get_problem_sql, so that no row is lost or altered in silence. #}
{% macro get_cast_sql(column) %}
  {%- if column.given_type is none -%}
    {%- do return('defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(column.type) ~ ')') -%}
  {%- endif -%}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- do return(versioned_collapsing._cast_sql(given, column.given_type, column.type, 1)) -%}
{% endmacro %}


{# A column of the change set, or null where its value does not fit. #}
{% macro get_fitting_sql(column) %}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- if versioned_collapsing.get_base_type(column.given_type) == versioned_collapsing.get_base_type(column.type) -%}
    {%- do return(given) -%}
  {%- endif -%}
  {%- set cast = versioned_collapsing._cast_or_null_sql(given, column.given_type, column.type, 1) -%}
  {%- set fits = versioned_collapsing._fits_sql(given, cast, column.given_type, column.type, 1) -%}
  {%- do return('if(ifNull(' ~ fits ~ ', false), ' ~ cast ~ ', null)') -%}
{% endmacro %}


{# Why a row of the change set has no place in the table; empty when it has. Payload is not looked at in deletes,
   nor where a change leaves it as it is stored: it comes from there. #}
{% macro get_problem_sql(options, columns) %}
  {%- set place, payload = [], [] -%}
  {%- for column in columns.table if column.given_type is not none -%}
    {%- set is_place = column.name in options.unique_key
        or (column.name == options.version and options.delete_version == 'respect') -%}
    {%- do (place if is_place else payload).append(column) -%}
  {%- endfor -%}
  {%- set problems = versioned_collapsing._problems_sql(place, []) -%}
  {%- set excused = versioned_collapsing._problems_sql(payload, columns.given) -%}
  {%- if excused -%}
    {%- set is_deleted = versioned_collapsing._flag_sql(options.is_deleted, columns) -%}
    {%- do problems.append('if(' ~ is_deleted ~ ', emptyArrayString(), arrayConcat(' ~ excused | join(', ') ~ '))') -%}
  {%- endif -%}
  {%- if options.delete_version == 'ignore' and '_batch' in columns.given -%}
    {%- do problems.append("if(isNull(_dbt_given._batch), ['_batch is null'], emptyArrayString())") -%}
  {%- endif -%}
  {%- do problems.extend(versioned_collapsing._control_problems_sql(options, columns)) -%}
  {%- do return('arrayConcat(' ~ problems | join(', ') ~ ')[1]' if problems else "''") -%}
{% endmacro %}


{# Arrays of what is wrong in a row, one for each pair of types: a table may have a thousand columns and more, and a
   statement says once how two types are compared. #}
{% macro _problems_sql(table, given_names) %}
  {%- set nulls, pairs = [], {} -%}
  {%- for column in table -%}
    {%- if versioned_collapsing.is_nullable_type(column.given_type) and not versioned_collapsing.is_nullable_type(column.type) -%}
      {%- do nulls.append(column) -%}
    {%- endif -%}
    {%- if versioned_collapsing.get_base_type(column.given_type) != versioned_collapsing.get_base_type(column.type) -%}
      {%- do pairs.setdefault((column.given_type, column.type), []).append(column) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set is_unset = ' and not has(_dbt_given._unset, _dbt_name)' if '_unset' in given_names else '' -%}
  {%- set problems = [] -%}
  {%- if nulls -%}
    {%- do problems.append(versioned_collapsing._named_problems_sql(
        nulls, ' is null', ['isNull({})'], '_dbt_value' ~ is_unset
    )) -%}
  {%- endif -%}
  {%- for (given_type, type), alike in pairs.items() -%}
    {%- set cast = versioned_collapsing._cast_or_null_sql('{}', given_type, type, 1) -%}
    {%- set fits = versioned_collapsing._fits_sql('_dbt_value', '_dbt_cast', given_type, type, 1) -%}
    {%- do problems.append(versioned_collapsing._named_problems_sql(
        alike,
        ' does not fit ' ~ type,
        ['{}', cast],
        'isNotNull(_dbt_value) and not ifNull(' ~ fits ~ ', false)' ~ is_unset
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# What is wrong with columns that have one condition, over `_dbt_value`, `_dbt_cast` and `_dbt_name`. #}
{% macro _named_problems_sql(table, problem, templates, condition) %}
  {%- set arrays = [] -%}
  {%- for template in templates -%}
    {%- set values = [] -%}
    {%- for column in table -%}
      {%- do values.append(template | replace('{}', '_dbt_given.' ~ adapter.quote(column.name))) -%}
    {%- endfor -%}
    {%- do arrays.append('[' ~ values | join(', ') ~ ']') -%}
  {%- endfor -%}
  {%- set arguments = ['_dbt_name', '_dbt_value', '_dbt_cast'][: templates | length + 1] | join(', ') -%}
  {%- set names = '[' ~ versioned_collapsing.quote_literals(table | map(attribute='name')) ~ ']' -%}
  {%- do return(
      'arrayMap(_dbt_name -> _dbt_name || ' ~ versioned_collapsing.quote_literal(problem) ~ ', arrayFilter((' ~ arguments
      ~ ') -> ' ~ condition ~ ', ' ~ names ~ ', ' ~ arrays | join(', ') ~ '))'
  ) -%}
{% endmacro %}


{# What is wrong with columns that say how a change is meant: a name in `_unset` that no column has, a count below
   zero. #}
{% macro _control_problems_sql(options, columns) %}
  {%- set problems = [] -%}
  {%- if '_unset' in columns.given -%}
    {%- set known = '[' ~ versioned_collapsing.quote_literals((columns.names + columns.given) | unique(true)) ~ ']' -%}
    {%- do problems.append(
        "arrayMap(_dbt_name -> '_unset names ' || _dbt_name || ', which is no column', "
        ~ 'arrayFilter(_dbt_name -> not has(' ~ known ~ ', _dbt_name), _dbt_given._unset))'
    ) -%}
  {%- endif -%}
  {%- for name in versioned_collapsing.get_carried_count_names() + ['_batch'] if name in columns.given -%}
    {%- set count = '_dbt_given.' ~ adapter.quote(name) -%}
    {%- do problems.append(
        'if(ifNull(' ~ count ~ ' < 0, false), [' ~ versioned_collapsing.quote_literal(name ~ ' is below zero')
        ~ '], emptyArrayString())'
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# A value in the type that is stored: a default where it does not fit. `depth` is how deep the value stands in
   other ones. #}
{% macro _cast_sql(value, given_type, type, depth) %}
  {%- set is_same = versioned_collapsing.get_base_type(given_type) == versioned_collapsing.get_base_type(type) -%}
  {%- if is_same and not versioned_collapsing.is_nullable_type(given_type) -%}
    {%- do return(value) -%}
  {%- endif -%}
  {%- set cast = value if is_same else versioned_collapsing._cast_or_null_sql(value, given_type, type, depth) -%}
  {%- do return(cast if versioned_collapsing.is_nullable_type(type) else 'assumeNotNull(' ~ cast ~ ')') -%}
{% endmacro %}


{# A value in another type, null where ClickHouse cannot read it as one. Parts of nested types, which cannot be null,
   are cast one by one. #}
{% macro _cast_or_null_sql(value, given_type, type, depth) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- set literal = versioned_collapsing.quote_literal(base) -%}
  {%- set text = versioned_collapsing._text_sql(value, given_type, type) -%}
  {%- if base.startswith('Variant(') or base.startswith('Dynamic') -%}
    {%- do return('cast(' ~ value ~ ', ' ~ literal ~ ')') -%}
  {%- elif versioned_collapsing.has_parts(base) and text -%}
    {%- set brackets = "('[', '{', '(')" -%}
    {%- set default = 'toString(defaultValueOfTypeName(' ~ literal ~ '))' -%}
    {%- set given_text = 'ifNull(' ~ text ~ ", '')" -%}
    {%- do return(
        'accurateCast(if(substring(' ~ given_text ~ ', 1, 1) in ' ~ brackets ~ ', ' ~ given_text ~ ', ' ~ default
        ~ '), ' ~ literal ~ ')'
    ) -%}
  {%- elif versioned_collapsing.has_parts(base) and given.split('(')[0] == base.split('(')[0] -%}
    {%- do return('cast(' ~ versioned_collapsing._cast_parts_sql(value, given, base, depth) ~ ', ' ~ literal ~ ')') -%}
  {%- elif base.startswith('Enum') -%}
    {%- set known = versioned_collapsing.get_enum_values(base, text is not none) -%}
    {%- set enum = text or value -%}
    {%- do return(
        'if(' ~ enum ~ ' in (' ~ known | join(', ') ~ '), accurateCastOrNull(if(' ~ enum ~ ' in (' ~ known | join(', ')
        ~ '), ' ~ enum ~ ', ' ~ known[0] ~ '), ' ~ literal ~ '), null)'
    ) -%}
  {%- endif -%}
  {%- do return('accurateCastOrNull(' ~ (text or value) ~ ', ' ~ literal ~ ')') -%}
{% endmacro %}


{# An Array, Map or Tuple with its parts cast. #}
{% macro _cast_parts_sql(value, given_type, type, depth) %}
  {%- set part = '_dbt_part_' ~ depth -%}
  {%- if type.startswith('Tuple(') -%}
    {%- set parts = [] -%}
    {%- for pair in versioned_collapsing._tuple_pairs(value, given_type, type) -%}
      {%- do parts.append(versioned_collapsing._cast_sql(pair.value, pair.given_type, pair.type, depth + 1)) -%}
    {%- endfor -%}
    {%- do return('tuple(' ~ parts | join(', ') ~ ')') -%}
  {%- endif -%}
  {%- set arrays = [] -%}
  {%- set types = versioned_collapsing.get_type_arguments(type) -%}
  {%- for given_part in versioned_collapsing.get_type_arguments(given_type) -%}
    {%- set of = value if type.startswith('Array(') else ('mapKeys(', 'mapValues(')[loop.index0] ~ value ~ ')' -%}
    {%- set cast = versioned_collapsing._cast_sql(part, given_part, types[loop.index0], depth + 1) -%}
    {%- do arrays.append(of if cast == part else 'arrayMap(' ~ part ~ ' -> ' ~ cast ~ ', ' ~ of ~ ')') -%}
  {%- endfor -%}
  {%- do return(arrays[0] if type.startswith('Array(') else 'mapFromArrays(' ~ arrays | join(', ') ~ ')') -%}
{% endmacro %}


{# The elements of one Tuple that become those of another: by name where both have the same names, otherwise by
   place. #}
{% macro _tuple_pairs(value, given_type, type) %}
  {%- set given = versioned_collapsing.get_tuple_elements(given_type) -%}
  {%- set wanted = versioned_collapsing.get_tuple_elements(type) -%}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set is_by_name = none not in names and names | sort(case_sensitive=true) == wanted | map(attribute='name') | map('string') | sort(case_sensitive=true) -%}
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


{# Whether ClickHouse has a way from one type to another that get_problem_sql can judge: Tuples of other names or of
   another length would lose elements, and a Variant takes its own types alone. #}
{% macro can_convert(given_type, type) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- if base == given -%}
    {%- do return(true) -%}
  {%- elif versioned_collapsing._text_sql('x', given_type, type) -%}
    {%- do return('Map' not in versioned_collapsing.get_type_words(base)) -%}
  {%- elif base.startswith('Variant(') -%}
    {%- set known = versioned_collapsing.get_type_arguments(base) -%}
    {%- set given_types = versioned_collapsing.get_type_arguments(given) if given.startswith('Variant(') else [given] -%}
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


{% macro _can_convert_tuple(given_type, type) %}
  {%- set given = versioned_collapsing.get_tuple_elements(given_type) -%}
  {%- set wanted = versioned_collapsing.get_tuple_elements(type) -%}
  {%- set given_names = given | map(attribute='name') | select | list -%}
  {%- set names = wanted | map(attribute='name') | select | list -%}
  {%- if given | length != wanted | length or (given_names and names and given_names | sort(case_sensitive=true) != names | sort(case_sensitive=true)) -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- for pair in versioned_collapsing._tuple_pairs('x', given_type, type) -%}
    {%- if not versioned_collapsing.can_convert(pair.given_type, pair.type) -%}
      {%- do return(false) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}
