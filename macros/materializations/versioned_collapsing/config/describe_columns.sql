{# `table`: name, type and given_type of each column that is stored, without the sign; given_type is none where the
   change set has no such column. `names`: their names. `payload`: all but key and version. `absent`: those without a
   given_type. `given`: the change set's columns. `is_folded`: whether the changes of a key are more than candidates of
   which the highest is taken. #}
{% macro describe_columns(options, table, given) %}
  {%- set names = table | map(attribute='name') | list -%}
  {%- set absent = table | selectattr('given_type', 'none') | map(attribute='name') | list -%}
  {%- do return({
      'table': table,
      'names': names,
      'payload': names | reject('in', options.unique_key + [options.version]) | list,
      'given': given,
      'absent': absent,
      'is_folded': options.combine != {} or options.delete_version == 'ignore' or absent != [] or '_unset' in given,
  }) -%}
{% endmacro %}


{# The columns of an insert: the key, the others, the sign. #}
{% macro get_stored_names(options, columns) %}
  {%- do return(options.unique_key + (columns.names | reject('in', options.unique_key) | list) + [options.sign]) -%}
{% endmacro %}
