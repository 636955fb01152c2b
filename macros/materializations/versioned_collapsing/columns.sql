{# The columns of the table and how the change set fills them.

   Declared data types (the contract, or `data_type` in the properties file) win; the others are
   those of the change set. Columns of the key, the version, ORDER BY and PARTITION BY lose
   Nullable: a null there stops the run. Returns `table` (name, type and given_type of each column that
   is stored, without the sign; given_type is none where the change set has no such column), `names` of
   these, `payload` (all but key and version), `absent` ones, `given`, the change set's columns, and `is_folded`:
   whether the changes of a key are more than candidates of which the highest is taken. #}
{% macro get_versioned_collapsing_columns(options, sql, model) %}
  {%- set declared = {} -%}
  {%- set spelled = model.columns.values() | selectattr('data_type') | list -%}
  {%- set canonical = versioned_collapsing.get_canonical_types(spelled | map(attribute='data_type') | list) -%}
  {%- for column in spelled -%}
    {%- do declared.update({column.name: canonical[column.data_type]}) -%}
  {%- endfor -%}
  {%- set given = versioned_collapsing.get_query_columns(sql) -%}
  {%- set given_names = given | map(attribute='name') | list -%}
  {%- set not_stored = versioned_collapsing.get_control_columns(options) + [options.sign] -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, versioned_collapsing.validate_columns(options, given_names, declared, config.get('contract').enforced)) -%}

  {%- set table = [] -%}
  {%- for column in given if column.name not in not_stored -%}
    {%- set type = declared.get(column.name) or versioned_collapsing._stored_type(column, options) -%}
    {%- do table.append({'name': column.name, 'type': type, 'given_type': column.type}) -%}
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
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- set is_key = column.name in options.unique_key + options.order_by -%}
    {%- if column.name == options.version and not versioned_collapsing._is_version_type(base) -%}
      {%- do problems.append(
          "version: " ~ column.name ~ " is " ~ column.type ~ ". A version is UInt*, Int*, Date, Date32, DateTime or "
          ~ "DateTime64, never a float: declare such a data_type, or cast it in the select."
      ) -%}
    {%- endif -%}
    {%- if base == 'Nothing' -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is null in every row, and has no type. Declare its data_type, or cast it in "
          ~ "the select, as in cast(null as Nullable(String))."
      ) -%}
    {%- elif is_key and versioned_collapsing.has_floats(base) -%}
      {%- do problems.append(
          "order_by: " ~ column.name ~ " is " ~ column.type ~ "; floats do not pair reliably (0.0 and -0.0). Use an "
          ~ "integer or Decimal."
      ) -%}
    {%- elif is_key and not (versioned_collapsing.has_order(base) or base.startswith('Map(')) -%}
      {%- do problems.append(
          "order_by: " ~ column.name ~ " is " ~ column.type ~ ", of which values have no reliable order: they are no "
          ~ "key. Select what identifies the entity as a column of its own."
      ) -%}
    {%- elif versioned_collapsing.is_nullable_type(column.type) and versioned_collapsing._is_required(column.name, options) -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.type
          ~ "; columns of the key, version, order_by and partition_by cannot be Nullable."
      ) -%}
    {%- endif -%}
    {%- if base.startswith(('AggregateFunction(', 'Nested(')) -%}
      {%- set advice = "Select its parts, each an array." if base.startswith('Nested(') else "Keep such states in a view on the table." -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.type ~ ", of which two values cannot be compared. " ~ advice
      ) -%}
    {%- elif not versioned_collapsing.can_convert(column.given_type, column.type) -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.given_type ~ " in the select, of which values do not become "
          ~ column.type ~ " by themselves. Make it that in the select, or declare another data_type."
      ) -%}
    {%- endif -%}
    {%- if options.combine.get(column.name) in ('greatest', 'least') and not versioned_collapsing.has_order(column.type) -%}
      {%- do problems.append(
          "combine: " ~ column.name ~ " has '" ~ options.combine[column.name] ~ "' and is " ~ column.type ~ ", of which "
          ~ "values have no order: which is kept would depend on the runs. Use 'latest', 'coalesce' or 'first'."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _stored_type(column, options) %}
  {%- if not versioned_collapsing._is_required(column.name, options) -%}
    {%- do return(column.type) -%}
  {%- endif -%}
  {%- set base = versioned_collapsing.get_base_type(column.type) -%}
  {%- do return('LowCardinality(' ~ base ~ ')' if column.type.startswith('LowCardinality(') else base) -%}
{% endmacro %}


{# Whether a null in the column would leave a row without a place in the table. #}
{% macro _is_required(name, options) %}
  {%- set places = [options.version] + options.unique_key + options.order_by + options.partition_by -%}
  {%- if name in places -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- for place in places -%}
    {%- if name in versioned_collapsing._names_in(place) -%}
      {%- do return(true) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(false) -%}
{% endmacro %}


{# The names that an expression may mean a column by: neither its texts nor its functions. Of `a.b` also `a`. #}
{% macro _names_in(expression) %}
  {%- set names = [] -%}
  {%- set tokens = "'(?:[^'\\\\]|\\\\.)*'|`((?:[^`\\\\]|\\\\.)*)`|\"([^\"]*)\"|(?<![\\w.])([^\\W\\d][\\w.]*)(?!\\s*\\(|[\\w.])" -%}
  {%- for token in modules.re.finditer(tokens, expression | string) -%}
    {%- set bare = token.group(3) -%}
    {%- do names.extend([bare, bare.split('.')[0]] if bare else [token.group(1) or token.group(2)]) -%}
  {%- endfor -%}
  {%- do return(names | select | list) -%}
{% endmacro %}


{% macro _is_version_type(type) %}
  {%- do return(modules.re.match('U?Int[0-9]|Date', type) is not none) -%}
{% endmacro %}
