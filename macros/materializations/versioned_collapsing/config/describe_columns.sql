{# The columns in the form in which macros pass them on.

   - table: each stored column except the sign: its name, its type, and given_type, its type in the change set (none if
     the change set lacks the column)
   - names: the names of these columns
   - payload: the names without key and version
   - absent: the names of the columns that the change set lacks
   - given: the names of the change set's columns
   - is_folded: whether all changes of a key are combined; otherwise only the one with the highest version counts #}
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
