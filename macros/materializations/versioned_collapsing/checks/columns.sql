{% macro get_column_problems(options, given, declared, is_contract_enforced) %}
  {%- set problems = [] -%}
  {%- set named = options.unique_key + [options.version]
      + ([options.is_deleted] if options.is_deleted != '_is_deleted' and options.old_state != 'stream' else []) -%}
  {%- set missing = named | reject('in', given) | list -%}
  {%- if missing -%}
    {%- set of = [] -%}
    {%- for name in missing -%}
      {%- set option = 'version' if name == options.version else 'is_deleted' if name == options.is_deleted
          else 'unique_key' -%}
      {%- do of.append(name ~ " (option " ~ option ~ ")") -%}
    {%- endfor -%}
    {%- do problems.append(
        "columns: the change set has no column " ~ of | join(" and no column ") ~ ". It has " ~ given | join(', ')
        ~ ". Select " ~ ("the missing column" if missing | length == 1 else "the missing columns")
        ~ ", or change the option." ~ versioned_collapsing.get_list_advice('unique_key', missing)
    ) -%}
  {%- endif -%}
  {%- set outside = options.unique_key | reject('in', options.order_by + missing) | list -%}
  {%- if outside -%}
    {%- do problems.append(
        "order_by is " ~ options.order_by | join(', ') ~ " and lacks " ~ outside | join(', ') ~ " of the unique_key. "
        ~ "Rows pair by sorting key and version, so rows of different entities would cancel each other. Add every "
        ~ "unique_key column to order_by." ~ versioned_collapsing.get_list_advice('order_by', options.order_by)
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
