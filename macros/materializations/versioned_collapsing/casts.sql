{# A column of the change set as the target stores it. Values that do not fit become defaults here and
   problems in get_problems_sql, so that no row is lost or altered in silence. #}
{% macro get_cast_sql(column) %}
  {%- if column.given_type is none -%}
    {%- do return('defaultValueOfTypeName(' ~ versioned_collapsing._literal(column.type) ~ ')') -%}
  {%- endif -%}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- set is_nullable = 'Nullable(' in column.type -%}
  {%- if versioned_collapsing._is_nested(column.type) -%}
    {%- do return('accurateCast(' ~ given ~ ', ' ~ versioned_collapsing._literal(column.type) ~ ')') -%}
  {%- endif -%}
  {%- set cast = given if versioned_collapsing._is_same_base(column) else versioned_collapsing._cast_or_null(given, column.type) -%}
  {%- do return(cast if is_nullable else 'assumeNotNull(' ~ cast ~ ')') -%}
{% endmacro %}


{# Why a row of the change set has no place in the table; empty when it has. #}
{% macro get_problem_sql(options, columns) %}
  {%- set branches = [] -%}
  {%- for column in columns.table if column.given_type is not none -%}
    {%- for problem in versioned_collapsing.get_problems_sql(column, options, columns) -%}
      {%- do branches.append(problem.condition ~ ', ' ~ versioned_collapsing._literal(problem.text)) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if options.delete_version == 'ignore' and '_batch' in columns.given -%}
    {%- do branches.append("isNull(_dbt_given._batch), '_batch is null'") -%}
  {%- endif -%}
  {%- do return("multiIf(" ~ branches | join(', ') ~ ", '')" if branches else "''") -%}
{% endmacro %}


{# Conditions under which a row has no place in the table, each with what to call it. Payload is not
   looked at in deletes, nor where a change leaves it as it is stored: it comes from there. A cast that comes back as
   another value (a date that wraps, a decimal that loses digits) does not fit either. #}
{% macro get_problems_sql(column, options, columns) %}
  {%- set problems = [] -%}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- set is_place = column.name in options.unique_key
      or (column.name == options.version and options.delete_version == 'respect') -%}
  {%- set is_unset = 'has(_dbt_given._unset, ' ~ versioned_collapsing._literal(column.name) ~ ') or ' if '_unset' in columns.given else '' -%}
  {%- set applies = '' if is_place else 'not (' ~ is_unset ~ versioned_collapsing._flag_sql(options.is_deleted, columns) ~ ') and ' -%}
  {%- if versioned_collapsing._is_nested(column.type) -%}
    {%- do return(problems) -%}
  {%- endif -%}
  {%- if 'Nullable(' not in column.type and 'Nullable(' in column.given_type -%}
    {%- do problems.append({
        'condition': applies ~ 'isNull(' ~ given ~ ')',
        'text': column.name ~ ' is null',
    }) -%}
  {%- endif -%}
  {%- if not versioned_collapsing._is_same_base(column) -%}
    {%- set cast = versioned_collapsing._cast_or_null(given, column.type) -%}
    {%- set back = versioned_collapsing._cast_or_null(cast, column.given_type) -%}
    {%- set is_text = 'String' in (versioned_collapsing._base_type(column.given_type), versioned_collapsing._base_type(column.type)) -%}
    {%- do problems.append({
        'condition': applies ~ 'isNotNull(' ~ given ~ ') and ' ~ ('isNull(' ~ cast ~ ')' if is_text else 'not (' ~ versioned_collapsing._comparable_sql(back, column.given_type) ~ ' <=> ' ~ versioned_collapsing._comparable_sql(given, column.given_type) ~ ')'),
        'text': column.name ~ ' does not fit ' ~ column.type,
    }) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{# NaN equals nothing, not even itself: floats compare by their text. #}
{% macro _comparable_sql(expression, type) %}
  {%- do return('toString(' ~ expression ~ ')' if 'Float' in type else expression) -%}
{% endmacro %}


{% macro _cast_or_null(expression, type) %}
  {%- do return('accurateCastOrNull(' ~ expression ~ ', ' ~ versioned_collapsing._literal(versioned_collapsing._base_type(type)) ~ ')') -%}
{% endmacro %}


{% macro _is_same_base(column) %}
  {%- do return(versioned_collapsing._normalized(versioned_collapsing._base_type(column.type)) == versioned_collapsing._normalized(versioned_collapsing._base_type(column.given_type))) -%}
{% endmacro %}


{# Types that cannot stand in Nullable, and are cast whole. #}
{% macro _is_nested(type) %}
  {%- do return(versioned_collapsing._base_type(type).startswith(('Array(', 'Map(', 'Tuple(', 'Nested(', 'JSON', 'Variant(', 'Dynamic'))) -%}
{% endmacro %}


{# A text as it stands between the quotes of a string literal. #}
{% macro _escaped(text) %}
  {%- do return(text | replace('\\', '\\\\') | replace("'", "\\'")) -%}
{% endmacro %}


{% macro _literal(text) %}
  {%- do return("'" ~ versioned_collapsing._escaped(text) ~ "'") -%}
{% endmacro %}


{% macro _literals(texts) %}
  {%- set literals = [] -%}
  {%- for text in texts -%}{%- do literals.append(versioned_collapsing._literal(text)) -%}{%- endfor -%}
  {%- do return(literals | join(', ')) -%}
{% endmacro %}
