{# A column of the table in a comparison. An Enum is compared as text, because a reference may have values that the Enum
   lacks. #}
{% macro get_live_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set base = versioned_collapsing.get_base_type(column.type) -%}
  {%- if versioned_collapsing.is_nested_type(base) -%}{%- do return(name) -%}{%- endif -%}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- do return(versioned_collapsing._get_exact_cast_sql(name, base, type)) -%}
{% endmacro %}


{% macro _get_compared_type(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- do return('String' if base.startswith('Enum') else base) -%}
{% endmacro %}


{# A cast that is null for a value that does not fit. A float becomes a decimal by its written digits: a plain cast of
   1.15 gives 1.14. A day may be written with a time, which counts as lost unless it is 0. #}
{% macro _get_exact_cast_sql(expression, type, wanted) %}
  {%- set by_digits = ('Float' in type and wanted.startswith('Decimal')) or 'Enum' in type -%}
  {%- set is_day = wanted in ('Date', 'Date32') and 'String' in type -%}
  {%- set given = 'toString(' ~ expression ~ ')' if by_digits
      else 'left(' ~ expression ~ ', 10)' if is_day
      else expression -%}
  {%- do return('accurateCastOrNull(' ~ given ~ ', ' ~ versioned_collapsing.quote_literal(wanted) ~ ')') -%}
{% endmacro %}


{% macro validate_compared_columns(table, columns) %}
  {%- set unknown = versioned_collapsing.as_list(columns) | reject('in', table.columns) | list -%}
  {%- if unknown and table.columns -%}
    {%- do exceptions.raise_compiler_error(
        "columns: " ~ table.relation ~ " lacks " ~ unknown | join(', ') ~ ". It has " ~ table.columns | join(', ')
        ~ ". Correct the name."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The columns of a table that are compared with a reference: `name`, `type` in the table, and `given_type` in the
   reference. #}
{% macro get_compared_columns(table, columns, given_types) %}
  {%- set names = versioned_collapsing.as_list(columns)
      or (table.columns | reject('equalto', table.version_name) | list) -%}
  {%- set compared = [] -%}
  {%- for name in names -%}
    {%- set type = table.columns.get(name, 'String') -%}
    {%- do compared.append({'name': name, 'type': type, 'given_type': given_types.get(name, type)}) -%}
  {%- endfor -%}
  {%- do return(compared) -%}
{% endmacro %}


{# The names of the columns that differ, according to the conditions in `differs`. #}
{% macro get_differing_columns_sql(names, differs) %}
  {%- do return(
      "arrayFilter((_dbt_name, _dbt_differs) -> _dbt_differs, ["
      ~ versioned_collapsing.quote_literals(names) ~ "], [" ~ differs | join(', ') ~ "])"
  ) -%}
{% endmacro %}


{# For each column, the condition that it has more than one value; null counts as a value. #}
{% macro get_columns_differ(names) %}
  {%- set differs = [] -%}
  {%- for name in names -%}
    {%- do differs.append('uniqExact(tuple(' ~ versioned_collapsing.quote_name(name) ~ ')) > 1') -%}
  {%- endfor -%}
  {%- do return(differs) -%}
{% endmacro %}


{# The names of the columns in which a row of the reference loses something when it is cast. #}
{% macro get_lost_columns_sql(columns) %}
  {%- set lost = [] -%}
  {%- for column in columns -%}
    {%- set condition = versioned_collapsing._get_is_lost_sql(column) -%}
    {%- if condition != 'false' -%}
      {%- do lost.append('if(' ~ condition ~ ', ' ~ versioned_collapsing.quote_literal(column.name) ~ ", '')") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set names = "arrayFilter(_dbt_name -> _dbt_name <> '', [" ~ lost | join(', ') ~ "])" -%}
  {%- do return(names if lost else 'emptyArrayString()') -%}
{% endmacro %}


{# Whether the reference differs from its cast: a number with more digits, a time with a finer fraction, a value that
   does not fit. If casting back gives the original, nothing was lost. Text is compared separately, because `1.20` is
   1.2. #}
{% macro _get_is_lost_sql(column) %}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- set given = versioned_collapsing.get_base_type(column.given_type) -%}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set value = versioned_collapsing.get_true_value_sql(column) -%}
  {%- if type == given or type == 'String' -%}{%- do return('false') -%}{%- endif -%}
  {%- if versioned_collapsing.is_nested_type(type) or versioned_collapsing.is_nested_type(given) -%}
    {%- set back = 'cast(' ~ value ~ ', ' ~ versioned_collapsing.quote_literal(column.given_type) ~ ')' -%}
    {%- set is_lost = 'cityHash64(tuple(' ~ back ~ ')) <> cityHash64(tuple(' ~ name ~ '))' -%}
    {%- do return('false' if given == 'String' else is_lost) -%}
  {%- endif -%}
  {%- if given == 'String' or given.startswith('FixedString') -%}
    {%- set differs = versioned_collapsing._get_text_is_lost_sql('toString(' ~ name ~ ')', value, type) -%}
  {%- else -%}
    {%- set back = versioned_collapsing._get_exact_cast_sql(value, type, given) -%}
    {%- set differs = 'not (' ~ back ~ ' <=> ' ~ name ~ ' or toString(' ~ back ~ ') <=> toString(' ~ name ~ '))' -%}
  {%- endif -%}
  {%- do return('isNotNull(' ~ name ~ ') and (isNull(' ~ value ~ ') or ' ~ differs ~ ')') -%}
{% endmacro %}


{# A column of the reference, in the type in which it is compared. Null stays null, and a value that does not fit
   becomes null, so that both show. #}
{% macro get_true_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- if versioned_collapsing.is_nested_type(column.type) -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- do return('cast(' ~ name ~ ', ' ~ versioned_collapsing.quote_literal(base) ~ ')') -%}
  {%- endif -%}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- do return(versioned_collapsing._get_exact_cast_sql(name, column.given_type, type)) -%}
{% endmacro %}


{# Whether a text says more than the value that was read from it. #}
{% macro _get_text_is_lost_sql(text, value, type) %}
  {%- if type.startswith('Decimal') -%}
    {%- do return('not (toDecimal256OrNull(' ~ text ~ ', 38) <=> toDecimal256OrNull(toString(' ~ value ~ '), 38))') -%}
  {%- elif type.startswith(('Int', 'UInt')) -%}
    {%- set digits = "replaceRegexpOne(trim(" ~ text ~ "), '^([+]|(-))?0*([0-9])', '\\\\2\\\\3')" -%}
    {%- do return("not (" ~ digits ~ " <=> toString(" ~ value ~ "))") -%}
  {%- elif type.startswith('Date') -%}
    {#- The value as written begins the text, and only zeros and punctuation follow. -#}
    {%- set written = "replaceRegexpOne(toString(" ~ value ~ "), '[.]0*$|([.][0-9]*[1-9])0+$', '\\\\1')" -%}
    {%- set begins = "startsWith(replaceOne(" ~ text ~ ", 'T', ' '), " ~ written ~ ")" -%}
    {%- set goes_on = "match(substring(" ~ text ~ ", length(" ~ written ~ ") + 1), '[1-9]')" -%}
    {%- do return('not ' ~ begins ~ ' or ' ~ goes_on) -%}
  {%- endif -%}
  {%- do return('false') -%}
{% endmacro %}


{# The types of the stored columns, by name, without the sign. #}
{% macro read_stored_columns(relation, sign) %}
  {%- set query -%}
    select name, type
    from system.columns
    where database = {{ versioned_collapsing.quote_literal(relation.schema) }}
      and table = {{ versioned_collapsing.quote_literal(relation.identifier) }}
      and default_kind not in ('ALIAS', 'EPHEMERAL')
    order by position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set columns = {} -%}
  {%- for row in run_query(query).rows if row['name'] != sign -%}
    {%- do columns.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}


{# The types of a reference's columns. Empty if the table or the reference does not exist yet: dbt compiles tests even
   then. #}
{% macro read_reference_types(table, reference) %}
  {%- if not table.columns -%}{%- do return({}) -%}{%- endif -%}
  {%- if reference is not string
      and adapter.get_relation(reference.database, reference.schema, reference.identifier) is none -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.read_types(reference)) -%}
{% endmacro %}


{# The types of the columns of anything that can follow `from`, by name. #}
{% macro read_types(relation) %}
  {%- set types = {} -%}
  {%- set query = 'describe (select * from ' ~ relation ~ ') ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- for row in run_query(query).rows -%}
    {%- do types.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(types) -%}
{% endmacro %}
