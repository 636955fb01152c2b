{# The columns of a table that are compared with a truth: `name`, `type` in the table, and `given_type` in the truth. #}
{% macro get_compared_columns(table, columns, given_types) %}
  {%- set names = versioned_collapsing.as_list(columns) or (table.columns | reject('equalto', table.version_name) | list) -%}
  {%- set unknown = names | reject('in', table.columns) | list -%}
  {%- if unknown and table.columns -%}
    {%- do exceptions.raise_compiler_error("columns: " ~ table.relation ~ " lacks " ~ unknown ~ ". It has " ~ table.columns | list ~ ".") -%}
  {%- endif -%}
  {%- set compared = [] -%}
  {%- for name in names -%}
    {%- set type = table.columns.get(name, 'String') -%}
    {%- do compared.append({'name': name, 'type': type, 'given_type': given_types.get(name, type)}) -%}
  {%- endfor -%}
  {%- do return(compared) -%}
{% endmacro %}


{# The types of a truth's columns. None where the table or the truth is not there yet: dbt compiles tests then too. #}
{% macro read_truth_types(table, truth) %}
  {%- set is_there = table.columns and (truth is string or adapter.get_relation(truth.database, truth.schema, truth.identifier) is not none) -%}
  {%- do return(versioned_collapsing.read_types(truth) if is_there else {}) -%}
{% endmacro %}


{# The types of the columns of what can stand after `from`, by name. #}
{% macro read_types(relation) %}
  {%- set types = {} -%}
  {%- set query = 'describe (select * from ' ~ relation ~ ') ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- for row in run_query(query).rows -%}
    {%- do types.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(types) -%}
{% endmacro %}


{# A column of the table as it is compared. Of an Enum it is the text: a truth may have values that the Enum lacks. #}
{% macro get_live_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set base = versioned_collapsing.get_base_type(column.type) -%}
  {%- if versioned_collapsing.is_nested_type(base) -%}{%- do return(name) -%}{%- endif -%}
  {%- do return(versioned_collapsing._cast_exactly(name, base, versioned_collapsing._get_compared_type(column.type))) -%}
{% endmacro %}


{# A column of the truth in the type in which it is compared. A null stays null, and so does what has no place in the
   type, so that both are seen. #}
{% macro get_true_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- if versioned_collapsing.is_nested_type(column.type) -%}
    {%- do return('cast(' ~ name ~ ', ' ~ versioned_collapsing.quote_literal(versioned_collapsing.get_base_type(column.type)) ~ ')') -%}
  {%- endif -%}
  {%- do return(versioned_collapsing._cast_exactly(name, column.given_type, versioned_collapsing._get_compared_type(column.type))) -%}
{% endmacro %}


{# Whether the truth is another value than its cast: a number with more digits, a time with a finer fraction, what does
   not fit. A cast that comes back as it was has lost nothing; text is looked at by itself, for `1.20` is 1.2. #}
{% macro get_is_lost_sql(column) %}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- set given = versioned_collapsing.get_base_type(column.given_type) -%}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set value = versioned_collapsing.get_true_value_sql(column) -%}
  {%- if type == given or type == 'String' -%}{%- do return('false') -%}{%- endif -%}
  {%- if versioned_collapsing.is_nested_type(type) or versioned_collapsing.is_nested_type(given) -%}
    {%- do return('false' if given == 'String' else 'cityHash64(tuple(cast(' ~ value ~ ', ' ~ versioned_collapsing.quote_literal(column.given_type) ~ '))) <> cityHash64(tuple(' ~ name ~ '))') -%}
  {%- endif -%}
  {%- if given == 'String' or given.startswith('FixedString') -%}
    {%- set differs = versioned_collapsing._get_text_is_lost_sql('toString(' ~ name ~ ')', value, type) -%}
  {%- else -%}
    {%- set back = versioned_collapsing._cast_exactly(value, type, given) -%}
    {%- set differs = 'not (' ~ back ~ ' <=> ' ~ name ~ ' or toString(' ~ back ~ ') <=> toString(' ~ name ~ '))' -%}
  {%- endif -%}
  {%- do return('isNotNull(' ~ name ~ ') and (isNull(' ~ value ~ ') or ' ~ differs ~ ')') -%}
{% endmacro %}


{# Whether text says more than the value that was read from it. #}
{% macro _get_text_is_lost_sql(text, value, type) %}
  {%- if type.startswith('Decimal') -%}
    {%- do return('not (toDecimal256OrNull(' ~ text ~ ', 38) <=> toDecimal256OrNull(toString(' ~ value ~ '), 38))') -%}
  {%- elif type.startswith(('Int', 'UInt')) -%}
    {%- do return("not (replaceRegexpOne(trim(" ~ text ~ "), '^([+]|(-))?0*([0-9])', '\\\\2\\\\3') <=> toString(" ~ value ~ "))") -%}
  {%- elif type.startswith('Date') -%}
    {#- What is written of the value begins the text, and nothing but zeros and signs come after it. -#}
    {%- set written = "replaceRegexpOne(toString(" ~ value ~ "), '[.]0*$|([.][0-9]*[1-9])0+$', '\\\\1')" -%}
    {%- do return("not startsWith(replaceOne(" ~ text ~ ", 'T', ' '), " ~ written ~ ") or match(substring(" ~ text ~ ", length(" ~ written ~ ") + 1), '[1-9]')") -%}
  {%- endif -%}
  {%- do return('false') -%}
{% endmacro %}


{% macro _get_compared_type(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- do return('String' if base.startswith('Enum') else base) -%}
{% endmacro %}


{# A cast that is null where there is no such value. Between floats and decimals it goes by the digits that a float is
   written with: of 1.15 the cast makes 1.14. A day may be written with a time, which counts as lost unless it is 0. #}
{% macro _cast_exactly(expression, type, wanted) %}
  {%- set by_digits = ('Float' in type and wanted.startswith('Decimal')) or 'Enum' in type -%}
  {%- set is_day = wanted in ('Date', 'Date32') and 'String' in type -%}
  {%- set given = 'toString(' ~ expression ~ ')' if by_digits else 'left(' ~ expression ~ ', 10)' if is_day else expression -%}
  {%- do return('accurateCastOrNull(' ~ given ~ ', ' ~ versioned_collapsing.quote_literal(wanted) ~ ')') -%}
{% endmacro %}


{# The condition that keeps both sides of a comparison to the same keys: `key` by its columns there, `expressions` by
   those of the table. #}
{% macro get_keys_in_scope_sql(table, key, expressions, sample, recent_partitions) %}
  {%- set conditions = [versioned_collapsing.get_sample_sql(key, sample)] if sample else [] -%}
  {%- if recent_partitions and key -%}
    {%- do conditions.append(
        "tuple(" ~ key ~ ") in (select tuple(" ~ expressions ~ ") from " ~ table.relation ~ " where "
        ~ versioned_collapsing.get_recent_partitions_sql(table.relation, recent_partitions) ~ ")"
    ) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ') or 'true') -%}
{% endmacro %}


{# The names of the columns of which a row of the truth has more than its cast. #}
{% macro get_lost_columns_sql(columns) %}
  {%- set lost = [] -%}
  {%- for column in columns -%}
    {%- set condition = versioned_collapsing.get_is_lost_sql(column) -%}
    {%- if condition != 'false' -%}
      {%- do lost.append('if(' ~ condition ~ ', ' ~ versioned_collapsing.quote_literal(column.name) ~ ", '')") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return("arrayFilter(_dbt_name -> _dbt_name <> '', [" ~ lost | join(', ') ~ "])" if lost else 'emptyArrayString()') -%}
{% endmacro %}
