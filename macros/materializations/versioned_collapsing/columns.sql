{# The columns of the table and how the change set fills them.

   Declared data types (the contract, or `data_type` in the properties file) win; the others are
   those of the change set. Columns of the key, the version, ORDER BY and PARTITION BY lose
   Nullable: a null there stops the run. Returns `table` (name, type and given_type of each column that
   is stored, without the sign; given_type is none where the change set has no such column), `names` of
   these, `payload` (all but key and version), `absent` ones, `given`, the change set's columns, and `is_folded`:
   whether the changes of a key are more than candidates of which the highest is taken. #}
{% macro get_versioned_collapsing_columns(options, sql, model) %}
  {%- set declared = {} -%}
  {%- for column in model.columns.values() if column.data_type -%}
    {%- do declared.update({column.name: column.data_type}) -%}
  {%- endfor -%}
  {%- set given = adapter.get_column_schema_from_query(sql) -%}
  {%- set given_names = given | map(attribute='name') | list -%}
  {%- set not_stored = versioned_collapsing.get_control_columns(options) + [options.sign] -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, versioned_collapsing.validate_columns(options, given_names, declared, config.get('contract').enforced)) -%}

  {%- set table = [] -%}
  {%- for column in given if column.name not in not_stored -%}
    {%- set type = declared.get(column.name) or versioned_collapsing._stored_type(column, options) -%}
    {%- do table.append({'name': column.name, 'type': type, 'given_type': column.data_type}) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, versioned_collapsing.validate_column_types(options, table)) -%}

  {%- do return(versioned_collapsing.describe_columns(options, table, given_names)) -%}
{% endmacro %}


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


{% macro validate_columns(options, given, declared, is_contract_enforced) %}
  {%- set problems = [] -%}
  {%- set missing = (options.unique_key + [options.version]) | reject('in', given) | list -%}
  {%- if missing -%}
    {%- set of = [] -%}
    {%- for name in missing -%}
      {%- do of.append(name ~ (" (option version)" if name == options.version else " (option unique_key)")) -%}
    {%- endfor -%}
    {%- do problems.append(
        "columns: the change set has no column " ~ of | join(" and no column ") ~ ". It has " ~ given | join(', ')
        ~ ". Select the column, or name another one in the option."
    ) -%}
  {%- endif -%}
  {%- if options.old_state == 'stream' and options.sign not in given -%}
    {%- do problems.append("the change set lacks " ~ options.sign ~ ". With `old_state: stream` it is of signed rows: 1 for the new, -1 for the old.") -%}
  {%- elif options.old_state != 'stream' and options.sign in given -%}
    {%- do problems.append("the change set has the column " ~ options.sign ~ ", which is to be the sign. Drop it from the select, or set the option sign.") -%}
  {%- endif -%}
  {%- set meaningless = given | select('in', [options.is_deleted, '_unset', '_reset', '_is_truncate']) | list -%}
  {%- if options.old_state == 'stream' and meaningless -%}
    {%- do problems.append("the change set has " ~ meaningless ~ ", which `old_state: stream` has no use for: its rows are written as they are. Drop them from the select.") -%}
  {%- endif -%}
  {%- set unusable = [] -%}
  {%- for name in given if name.startswith('_dbt_') or '"' in name or '\\' in name -%}{%- do unusable.append(name) -%}{%- endfor -%}
  {%- if unusable -%}
    {%- do problems.append("columns: the change set has " ~ unusable ~ "; names that begin with _dbt_ are taken, and dbt cannot quote one with a quote or a backslash in it. Rename them in the select.") -%}
  {%- endif -%}
  {%- set unknown = options.combine | reject('in', given) | list -%}
  {%- if unknown -%}
    {%- do problems.append("combine: names " ~ unknown ~ ", which the change set does not have.") -%}
  {%- endif -%}
  {%- if is_contract_enforced -%}
    {%- set stored = given | reject('in', versioned_collapsing.get_control_columns(options)) | list -%}
    {%- set undeclared = stored | reject('in', declared) | reject('equalto', options.sign) | list -%}
    {%- set not_given = declared | reject('in', stored + [options.sign]) | list -%}
    {%- if undeclared -%}
      {%- do problems.append("contract: the select returns " ~ undeclared ~ ", which the properties file gives no data_type.") -%}
    {%- endif -%}
    {%- if not_given -%}
      {%- do problems.append("contract: the properties file declares " ~ not_given ~ ", which the select does not return.") -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro validate_column_types(options, table) %}
  {%- set problems = [] -%}
  {%- for column in table -%}
    {%- set base = versioned_collapsing._base_type(column.type) -%}
    {%- if column.name == options.version and not versioned_collapsing._is_version_type(base) -%}
      {%- do problems.append(
          "version: " ~ column.name ~ " is " ~ column.type ~ ". A version is UInt*, Int*, Date, Date32, DateTime or "
          ~ "DateTime64, never a float: declare such a data_type, or cast it in the select."
      ) -%}
    {%- endif -%}
    {%- if column.name in options.unique_key + options.order_by and base.startswith(('Float', 'BFloat')) -%}
      {%- do problems.append("order_by: " ~ column.name ~ " is " ~ column.type ~ "; floats do not pair reliably (0.0 and -0.0). Use an integer or Decimal.") -%}
    {%- endif -%}
    {%- if base.startswith(('AggregateFunction(', 'Nested(')) -%}
      {%- do problems.append("columns: " ~ column.name ~ " is " ~ column.type ~ ", of which two values cannot be compared. " ~ ("Select its parts, each an array." if base.startswith('Nested(') else "Keep such states in a view on the table.")) -%}
    {%- endif -%}
    {%- if 'Nullable' in column.type and versioned_collapsing._is_required(column.name, options) -%}
      {%- do problems.append("columns: " ~ column.name ~ " is " ~ column.type ~ "; columns of the key, version, order_by and partition_by cannot be Nullable.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _stored_type(column, options) %}
  {%- if not versioned_collapsing._is_required(column.name, options) -%}
    {%- do return(column.data_type) -%}
  {%- endif -%}
  {%- set base = versioned_collapsing._base_type(column.data_type) -%}
  {%- do return('LowCardinality(' ~ base ~ ')' if column.data_type.startswith('LowCardinality(') else base) -%}
{% endmacro %}


{# Whether a null in the column would leave a row without a place in the table. #}
{% macro _is_required(name, options) %}
  {%- set places = [options.version] + options.unique_key + options.order_by + options.partition_by -%}
  {%- do return(modules.re.search('(?<!\\w)' ~ modules.re.escape(name) ~ '(?!\\w)', places | join(' ')) is not none) -%}
{% endmacro %}


{% macro _is_version_type(type) %}
  {%- do return(type.startswith(('UInt', 'Int', 'Date'))) -%}
{% endmacro %}


{# A type without LowCardinality and Nullable around it. #}
{% macro _base_type(type) %}
  {%- set inner = namespace(type=type | trim) -%}
  {%- for wrapper in ('LowCardinality(', 'Nullable(') if inner.type.startswith(wrapper) -%}
    {%- set inner.type = inner.type[wrapper | length : -1] -%}
  {%- endfor -%}
  {%- do return(inner.type) -%}
{% endmacro %}
