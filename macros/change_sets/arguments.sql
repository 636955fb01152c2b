{# What is wrong with arguments that are lists of names, by their own name. #}
{% macro get_list_problems(arguments, may_be_empty=[]) %}
  {%- set problems = [] -%}
  {%- for name, value in arguments.items() -%}
    {%- if value is string -%}
      {%- do problems.append(name ~ ": is '" ~ value ~ "'; it takes a list: ['" ~ value ~ "'].") -%}
    {%- elif value is mapping or value is not sequence -%}
      {%- do problems.append(name ~ ": is " ~ value ~ "; it takes a list of names.") -%}
    {%- elif not value and name not in may_be_empty -%}
      {%- do problems.append(name ~ ": is empty.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro get_mapping_problems(arguments) %}
  {%- set problems = [] -%}
  {%- for name, value in arguments.items() if value is not mapping -%}
    {%- do problems.append(name ~ ": is " ~ value ~ "; it takes a mapping, with the names of columns on the left.") -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# What is wrong with the Spark types of columns. Only these are checked for values that do not fit: another name of
   theirs would let such through. #}
{% macro get_type_problems(columns) %}
  {%- set types = [
      'boolean', 'tinyint', 'smallint', 'int', 'bigint', 'float', 'double', 'string', 'binary', 'date', 'timestamp',
      'timestamp_ntz',
  ] -%}
  {%- set problems = [] -%}
  {%- for name, type in columns.items() -%}
    {%- if '<' in type | string -%}
      {%- do problems.append(
          "columns: " ~ name ~ " is " ~ type ~ ". Declare a nested value as string, which then holds its JSON."
      ) -%}
    {%- elif type not in types and not versioned_collapsing._is_decimal(type) -%}
      {%- do problems.append(
          "columns: " ~ name ~ " is '" ~ type ~ "'; it takes " ~ types | join(', ')
          ~ ", or decimal(precision, scale) with at most 38 digits."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _is_decimal(type) %}
  {%- set numbers = modules.re.match('decimal\\( *([0-9]{1,2}) *, *([0-9]{1,2}) *\\)$', type | string) -%}
  {%- if numbers is none -%}
    {%- do return(type == 'decimal') -%}
  {%- endif -%}
  {%- set precision = numbers.group(1) | int -%}
  {%- do return(1 <= precision and precision <= 38 and numbers.group(2) | int <= precision) -%}
{% endmacro %}


{# That a staging model has the columns that are needed of it. #}
{% macro get_missing_column_problems(events, columns, needed) %}
  {%- set missing = needed | reject('in', columns) | list -%}
  {%- if missing -%}
    {%- do return([events ~ " lacks " ~ missing | join(', ') ~ ". It has " ~ columns | join(', ') ~ "."]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
