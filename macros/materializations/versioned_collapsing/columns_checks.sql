{% macro validate_given_columns(model, options, given, declared) %}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set is_contract_enforced = model.config.contract.enforced -%}
  {%- do versioned_collapsing.raise_problems(
      model.unique_id, versioned_collapsing.get_column_problems(options, names, declared, is_contract_enforced)
  ) -%}
{% endmacro %}

{% macro get_column_problems(options, given, declared, is_contract_enforced) %}
  {%- set problems = [] -%}
  {%- set named = options.unique_key + [options.version]
      + ([options.is_deleted] if options.is_deleted != '_is_deleted' and options.old_state != 'stream' else []) -%}
  {%- set missing = named | reject('in', given) | list -%}
  {%- if missing -%}
    {%- set option_of = {options.is_deleted: 'is_deleted', options.version: 'version'} -%}
    {%- set of = [] -%}
    {%- for name in missing -%}
      {%- do of.append(name ~ " (option " ~ option_of.get(name, 'unique_key') ~ ")") -%}
    {%- endfor -%}
    {%- do problems.append(
        "columns: the change set has no column " ~ of | join(" and no column ") ~ ". It has " ~ given | join(', ')
        ~ ". Select " ~ ("the missing column" if missing | length == 1 else "the missing columns")
        ~ ", or change the option." ~ versioned_collapsing._get_list_advice('unique_key', missing)
    ) -%}
  {%- endif -%}
  {%- set outside = options.unique_key | reject('in', options.order_by + missing) | list -%}
  {%- if outside -%}
    {%- do problems.append(
        "order_by is " ~ options.order_by | join(', ') ~ " and lacks " ~ outside | join(', ') ~ " of the unique_key. "
        ~ "Rows pair by sorting key and version, so rows of different entities would cancel each other. Add every "
        ~ "unique_key column to order_by." ~ versioned_collapsing._get_list_advice('order_by', options.order_by)
    ) -%}
  {%- endif -%}
  {%- for option in ('order_by', 'primary_key', 'partition_by') -%}
    {%- for entry in options[option] | map('string') if entry not in given
        and modules.re.search('\\s(asc|desc|as\\s+\\S+)$', entry, modules.re.IGNORECASE) -%}
      {%- do problems.append(
          option ~ ": '" ~ entry ~ "' has a direction or an alias, which ClickHouse does not keep. Write the "
          ~ "expression alone."
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if options.old_state == 'stream' and options.sign not in given -%}
    {%- do problems.append(
        "columns: the change set has no column " ~ options.sign ~ ". With `old_state: stream` it must contain signed "
        ~ "rows. Select " ~ options.sign ~ ": 1 in state rows, -1 in cancel rows."
    ) -%}
  {%- elif options.old_state != 'stream' and options.sign in given -%}
    {%- do problems.append(
        "columns: the change set has the column " ~ options.sign ~ ", but the table uses this name for the sign. "
        ~ "Remove the column from the select, or set the option sign to another name."
    ) -%}
  {%- endif -%}
  {%- set meaningless = given | select('in', [options.is_deleted, '_unset', '_reset', '_is_truncate']) | list -%}
  {%- if options.old_state == 'stream' and meaningless -%}
    {%- do problems.append(
        "columns: the change set has " ~ meaningless | join(', ') ~ ", but `old_state: stream` writes rows as they "
        ~ "are. Remove " ~ meaningless | join(', ') ~ " from the select."
    ) -%}
  {%- endif -%}
  {%- do problems.extend(versioned_collapsing.get_watermark_problems(options, given)) -%}
  {%- set unusable = [] -%}
  {%- for name in given if name.startswith('_dbt_') or '"' in name
      or '\\' in name -%}{%- do unusable.append(name) -%}{%- endfor -%}
  {%- if unusable -%}
    {%- do problems.append(
        "columns: the change set has " ~ unusable | join(', ') ~ ". Names that begin with _dbt_ are reserved, and dbt "
        ~ "cannot quote a name that contains a quote or a backslash. Rename "
        ~ ("the column" if unusable | length == 1 else "the columns") ~ " in the select."
    ) -%}
  {%- endif -%}
  {%- do problems.extend(versioned_collapsing.get_virtual_column_problems(given, "the change set")) -%}
  {%- set unknown = options.combine | reject('in', given) | list -%}
  {%- if unknown -%}
    {%- do problems.append(
        "combine: the change set has no column " ~ unknown | join(" and no column ") ~ ". It has " ~ given | join(', ')
        ~ ". Correct the name in combine, or select the column."
    ) -%}
  {%- endif -%}
  {%- if is_contract_enforced -%}
    {%- set stored = given | reject('in', versioned_collapsing.get_control_columns(options)) | list -%}
    {%- set undeclared = stored | reject('in', declared) | reject('equalto', options.sign) | list -%}
    {%- set not_given = declared | reject('in', stored + [options.sign]) | list -%}
    {%- if undeclared -%}
      {%- do problems.append(
          "contract: the select returns " ~ undeclared | join(', ') ~ ", but the properties file declares no data_type "
          ~ "for " ~ ("it" if undeclared | length == 1 else "them") ~ ". Declare the data_type, or change the select."
      ) -%}
    {%- endif -%}
    {%- if not_given -%}
      {%- do problems.append(
          "contract: the properties file declares " ~ not_given | join(', ') ~ ", but the select does not return "
          ~ ("it" if not_given | length == 1 else "them") ~ ". Change the select or the declaration."
      ) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The advice to add to an error if a name is a text of several names, such as 'order_id, line'. #}
{% macro _get_list_advice(option, names) %}
  {%- for name in names if name is string and ',' in name -%}
    {%- do return(" To name several columns, write a list: " ~ option ~ "=['a', 'b'].") -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}

{# With a watermark, a run may read rows again that were applied before. They are only duplicates if changes are
   compared by version. With `old_state: stream` and `delete_version: ignore`, they are not. #}
{% macro get_watermark_problems(options, given) %}
  {%- if '_watermark' not in given -%}
    {%- do return(["columns: the change set has _landing, but no _watermark. Select both, or neither."]
        if '_landing' in given else []) -%}
  {%- endif -%}
  {%- set refused = "old_state: stream" if options.old_state == 'stream'
      else "delete_version: ignore" if options.delete_version == 'ignore' -%}
  {%- do return([
      "columns: the change set has _watermark, so it contains rows that were applied before, but with `" ~ refused
      ~ "` a change can be applied only once. Remove the option, or select the new rows without _watermark."
  ] if refused else []) -%}
{% endmacro %}

{% macro validate_column_types(model, options, columns) %}
  {%- do versioned_collapsing.raise_problems(
      model.unique_id, versioned_collapsing.get_column_type_problems(options, columns.table)
  ) -%}
{% endmacro %}

{% macro get_column_type_problems(options, table) %}
  {%- set names = table | map(attribute='name') | list -%}
  {%- set problems = [] -%}
  {%- for column in table -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- set is_key = column.name in options.unique_key + options.order_by -%}
    {%- if column.name == options.version and not modules.re.match('U?Int[0-9]|Date', base) -%}
      {%- do problems.append(
          "version: " ~ column.name ~ " is " ~ column.type ~ ", but a version must be UInt*, Int*, Date, Date32, "
          ~ "DateTime or DateTime64. Declare such a data_type, or cast the column in the select."
      ) -%}
    {%- endif -%}
    {%- if base == 'Nothing' -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is null in every row, so its type is unknown. Declare its data_type, or cast "
          ~ "it in the select, for example cast(null as Nullable(String))."
      ) -%}
    {%- elif is_key and versioned_collapsing.get_key_type_problems(column.name, column.type) -%}
      {%- do problems.extend(versioned_collapsing.get_key_type_problems(column.name, column.type)) -%}
    {%- elif versioned_collapsing.is_nullable_type(column.type)
        and versioned_collapsing.is_required_column(column.name, options, names) -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.type ~ ", but columns of unique_key, version, order_by and "
          ~ "partition_by cannot be Nullable. Declare another data_type, or replace nulls in the select with ifNull."
      ) -%}
    {%- endif -%}
    {%- if base.startswith(('AggregateFunction(', 'Nested(')) -%}
      {%- set advice = "Select each of its parts as an array." if base.startswith('Nested(')
          else "Keep aggregate states in a view on the table." -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.type ~ ", and two values of this type cannot be compared. "
          ~ advice
      ) -%}
    {%- elif not versioned_collapsing.can_convert(column.given_type, column.type) -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.given_type ~ " in the select, and values of this type cannot be "
          ~ "converted to " ~ column.type ~ ". Convert them in the select, or declare another data_type."
      ) -%}
    {%- endif -%}
    {%- if options.combine.get(column.name) in ('greatest', 'least')
        and not versioned_collapsing.has_order(column.type) -%}
      {%- do problems.append(
          "combine: " ~ column.name ~ " has the policy '" ~ options.combine[column.name] ~ "', but it is " ~ column.type
          ~ ", and values of this type have no order. Use 'latest', 'coalesce' or 'first'."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The problems with columns that cannot be brought in line. #}
{% macro get_schema_change_problems(existing_relation, stored, options, columns, model) %}
  {%- set changes = versioned_collapsing.get_column_differences(stored, columns) -%}
  {%- set added, absent = changes.added, changes.absent -%}
  {%- set names = columns.names + absent -%}
  {%- set problems = [] -%}
  {%- set advice = " Undo the change, or rebuild the table: " ~ versioned_collapsing.get_rebuild_command(model) -%}
  {%- set what_changes = (["adds " ~ added | join(', ')] if added else [])
      + (["drops " ~ absent | join(', ')] if absent else []) -%}
  {%- if (added or absent) and options.on_schema_change == 'fail' -%}
    {%- do problems.append(
        "columns: compared with " ~ existing_relation ~ ", the model " ~ what_changes | join(" and ")
        ~ ". Set on_schema_change to append_new_columns or ignore, or rebuild the table: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- elif (added or absent) and options.old_state == 'stream' -%}
    {%- do problems.append(
        "columns: with `old_state: stream` the model must have the columns of " ~ existing_relation ~ ", but it "
        ~ what_changes | join(" and ") ~ "." ~ advice
    ) -%}
  {%- endif -%}
  {%- for name in added if versioned_collapsing.is_required_column(name, options, names) -%}
    {%- do problems.append(
        "columns: " ~ name ~ " is new and belongs to unique_key, version, order_by or partition_by, which cannot "
        ~ "change in an existing table." ~ advice
    ) -%}
  {%- endfor -%}
  {%- for column in columns.table if column.name in added -%}
    {%- set policy = options.combine.get(column.name, 'latest') -%}
    {%- if policy != 'latest' and not versioned_collapsing.is_nullable_type(column.type) -%}
      {%- do problems.append(
          "combine: " ~ column.name ~ " is new, has the policy '" ~ policy ~ "' and is " ~ column.type
          ~ ", which is not Nullable. In stored rows its default would count as a value. Declare a Nullable data_type, "
          ~ "or rebuild the table: "
          ~ versioned_collapsing.get_rebuild_command(model)
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in absent if versioned_collapsing.is_required_column(name, options, names) -%}
    {%- do problems.append(
        "columns: the change set lacks " ~ name ~ ", which belongs to unique_key, version, order_by or partition_by."
        ~ advice
    ) -%}
  {%- endfor -%}
  {%- for column in columns.table if column.name in stored and stored[column.name] != column.type -%}
    {%- set is_wider_version = column.name == options.version
        and versioned_collapsing.is_wider_integer(stored[column.name], column.type) -%}
    {%- do problems.append(
        "columns: " ~ column.name ~ " is " ~ column.type ~ " in the model and " ~ stored[column.name] ~ " in "
        ~ existing_relation ~ "."
        ~ (" To keep the rows and give the table the wider type: dbt run-operation widen_version --args '{model: "
           ~ model.name ~ "}'." if is_wider_version else
           versioned_collapsing._get_alter_advice(existing_relation, column, stored, options, names, model))
        ~ advice
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# How to keep the rows if a column of the payload has got a wider type, as the landing table of a tool can: the
   statements for the table and its feed. #}
{% macro _get_alter_advice(relation, column, stored, options, names, model) %}
  {%- if versioned_collapsing.is_required_column(column.name, options, names)
      or not versioned_collapsing.is_wider_type(stored[column.name], column.type) -%}
    {%- do return('') -%}
  {%- endif -%}
  {%- set feed = versioned_collapsing.get_change_feed(relation, options, model) -%}
  {%- set statements = versioned_collapsing.get_texts(
      'alter table {} modify column ' ~ versioned_collapsing.quote_name(column.name) ~ ' ' ~ column.type,
      [relation] + ([feed.relation] if feed else [])
  ) -%}
  {%- do return(' To keep the rows and give the table the wider type: ' ~ statements | join('; ') ~ '.') -%}
{% endmacro %}
