{% macro get_column_problems(options, given, declared, is_contract_enforced) %}
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
    {%- do problems.append(
        "the change set lacks " ~ options.sign ~ ". With `old_state: stream` it is of signed rows: 1 for the new, -1 "
        ~ "for the old."
    ) -%}
  {%- elif options.old_state != 'stream' and options.sign in given -%}
    {%- do problems.append(
        "the change set has the column " ~ options.sign ~ ", which is to be the sign. Drop it from the select, or set "
        ~ "the option sign."
    ) -%}
  {%- endif -%}
  {%- set meaningless = given | select('in', [options.is_deleted, '_unset', '_reset', '_is_truncate']) | list -%}
  {%- if options.old_state == 'stream' and meaningless -%}
    {%- do problems.append(
        "the change set has " ~ meaningless ~ ", which `old_state: stream` has no use for: its rows are written as "
        ~ "they are. Drop them from the select."
    ) -%}
  {%- endif -%}
  {%- set unusable = [] -%}
  {%- for name in given if name.startswith('_dbt_') or '"' in name
      or '\\' in name -%}{%- do unusable.append(name) -%}{%- endfor -%}
  {%- if unusable -%}
    {%- do problems.append(
        "columns: the change set has " ~ unusable ~ "; names that begin with _dbt_ are taken, and dbt cannot quote "
        ~ "one with a quote or a backslash in it. Rename them in the select."
    ) -%}
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
      {%- do problems.append(
          "contract: the select returns " ~ undeclared ~ ", which the properties file gives no data_type."
      ) -%}
    {%- endif -%}
    {%- if not_given -%}
      {%- do problems.append(
          "contract: the properties file declares " ~ not_given ~ ", which the select does not return."
      ) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}
