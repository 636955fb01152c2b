{# The columns of the table and how the change set fills them, in the form of get_columns.

   Declared data types (from the contract, or `data_type` in the properties file) take precedence over the types in the
   change set. Columns of the key, the version, ORDER BY and PARTITION BY lose Nullable: a null there stops the run. #}
{% macro get_versioned_collapsing_columns(options, given, declared) %}
  {%- set not_stored = versioned_collapsing.get_control_columns(options) + [options.sign] -%}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set table = [] -%}
  {%- for column in given if column.name not in not_stored -%}
    {%- set type = declared.get(column.name) or versioned_collapsing._stored_type(column, options, names) -%}
    {%- do table.append({'name': column.name, 'type': type, 'given_type': column.type}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.get_columns(options, table, names)) -%}
{% endmacro %}

{% macro get_version_column(options, columns) %}
  {%- do return(columns.table | selectattr('name', 'equalto', options.version) | first) -%}
{% endmacro %}

{# The columns in the form in which macros pass them on.

   - table: each stored column except the sign: its name, its type, and given_type, its type in the change set (none if
     the change set lacks the column)
   - names: the names of these columns
   - payload: the names without key and version
   - absent: the names of the columns that the change set lacks
   - given: the names of the change set's columns
   - is_folded: whether all changes of a key are combined; otherwise only the one with the highest version counts #}
{% macro get_columns(options, table, given) %}
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

{% macro _stored_type(column, options, names) %}
  {%- if not versioned_collapsing.is_required_column(column.name, options, names) -%}
    {%- do return(column.type) -%}
  {%- endif -%}
  {%- set base = versioned_collapsing.get_base_type(column.type) -%}
  {%- do return('LowCardinality(' ~ base ~ ')' if column.type.startswith('LowCardinality(') else base) -%}
{% endmacro %}

{# Whether the column must not be null: the version, and each column that the key, ORDER BY or PARTITION BY uses.
   `names` has the names of all columns: if one of them is `order-id`, the key `order-id` is no expression over a column
   `order`. #}
{% macro is_required_column(name, options, names) %}
  {%- set places = [options.version] + options.unique_key + options.order_by + options.partition_by -%}
  {%- if name in places -%}{%- do return(true) -%}{%- endif -%}
  {%- for place in places if place not in names -%}
    {%- if name in versioned_collapsing._names_in(place) -%}{%- do return(true) -%}{%- endif -%}
  {%- endfor -%}
  {%- do return(false) -%}
{% endmacro %}

{# The names in an expression that can be columns. String literals and functions are left out. For `a.b`, `a` is
   returned too. #}
{% macro _names_in(expression) %}
  {%- set names = [] -%}
  {%- set tokens = "'(?:[^'\\\\]|\\\\.)*'|`((?:[^`\\\\]|\\\\.)*)`|\"([^\"]*)\""
      ~ "|(?<![\\w.])([^\\W\\d][\\w.]*)(?!\\s*\\(|[\\w.])" -%}
  {%- for in_backticks, in_quotes, bare in modules.re.findall(tokens, expression | string) -%}
    {%- do names.extend([bare, bare.split('.')[0]] if bare else [in_backticks or in_quotes]) -%}
  {%- endfor -%}
  {%- do return(names | select | list) -%}
{% endmacro %}

{# The columns that only the model has (`added`) and those that only the table has (`absent`). `stored` has the types of
   the table's columns. #}
{% macro get_column_differences(stored, columns) %}
  {%- do return({
      'added': columns.names | reject('in', stored) | list,
      'absent': stored | reject('in', columns.names) | list,
  }) -%}
{% endmacro %}

{# The columns of a table that exists, as get_columns returns them. #}
{% macro read_described_columns(relation, options) %}
  {%- set table = [] -%}
  {%- for column in versioned_collapsing.read_table_columns(relation) if column.name != options.sign -%}
    {%- do table.append(dict(column, given_type=column.type)) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.get_columns(options, table, [])) -%}
{% endmacro %}

{# The data types that the properties of a model declare, by column, in ClickHouse's own spelling. #}
{% macro read_declared_types(model) %}
  {%- set spelled = model.columns.values() | selectattr('data_type') | list -%}
  {%- set canonical = versioned_collapsing.read_canonical_types(spelled) -%}
  {%- set declared = {} -%}
  {%- for column in spelled -%}
    {%- do declared.update({column.name: canonical[column.data_type]}) -%}
  {%- endfor -%}
  {%- do return(declared) -%}
{% endmacro %}

{# The columns of an insert: the key, the others, the sign. #}
{% macro get_stored_names(options, columns) %}
  {%- do return(options.unique_key + (columns.names | reject('in', options.unique_key) | list) + [options.sign]) -%}
{% endmacro %}
