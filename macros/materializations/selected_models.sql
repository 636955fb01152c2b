{# What is wrong with the options of the models that a run builds. The adapter spark_clickhouse asks before it starts
   Spark, which takes longer than all else in a run with little data. Models are checked again when they are built. #}
{% macro validate_selected_models() %}
  {%- for node in graph.nodes.values() if node.unique_id in selected_resources -%}
    {%- if node.config.materialized == 'change_set' -%}
      {%- do versioned_collapsing.validate_location(node) -%}
      {%- do versioned_collapsing.validate_change_set_options(node) -%}
    {%- elif node.config.materialized == 'versioned_collapsing' -%}
      {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
      {%- do versioned_collapsing.validate_versioned_collapsing_options(node, options) -%}
      {%- do versioned_collapsing._validate_declared_types(node, options) -%}
    {%- elif node.config.materialized == 'versioned_collapsing_view' -%}
      {%- set this = api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias) -%}
      {%- set options = versioned_collapsing.get_view_options(node.config, node, this, node.raw_code) -%}
      {%- do versioned_collapsing.validate_view_options(node, options) -%}
      {%- do versioned_collapsing._validate_keys_of_view(node, options) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}

{# For a misspelt type, ClickHouse's error names the column and similar types. #}
{% macro _validate_declared_types(model, options) %}
  {%- set table = [] -%}
  {%- for name, type in versioned_collapsing.read_declared_types(model).items() -%}
    {%- do table.append({'name': name, 'type': type, 'given_type': type}) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_column_types(model, options, {'table': table}) -%}
{% endmacro %}

{# Columns from Spark are Nullable unless their table declares otherwise. Only what is certain is a problem: the view
   takes the column as it is, and so do all of its tables. What other macros write is not known yet. #}
{% macro _validate_keys_of_view(model, options) %}
  {%- set known = '(?s)\\{\\{\\s*(ref|versioned_collapsing\\.(signed_sum|signed_count))\\([^{}]*\\)\\s*\\}\\}' -%}
  {%- set select = modules.re.sub(known, '', versioned_collapsing._get_code_without_config(model)) -%}
  {%- if '{' in select -%}{%- do return(none) -%}{%- endif -%}
  {%- set problems = [] -%}
  {%- set tables = options.sources | map(attribute='node') | list -%}
  {%- for name in options.order_by + options.partition_by if modules.re.fullmatch('[A-Za-z_]\\w*', name)
      and versioned_collapsing._is_never_an_alias(name, select)
      and tables | length == model.depends_on.nodes | length
      and not options.settings.get('allow_nullable_key', 0) | int -%}
    {%- set commands = [] -%}
    {%- for table in tables if versioned_collapsing._is_nullable_from_spark(table, name) -%}
      {%- do commands.append(versioned_collapsing.get_rebuild_command(table)) -%}
    {%- endfor -%}
    {%- if commands | length == tables | length -%}
      {%- do problems.append(
          versioned_collapsing.get_nullable_key_problem(name ~ " comes from Spark as Nullable", commands)
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'versioned_collapsing_view') -%}
{% endmacro %}

{# Whether a name stands in a select, and only where an expression begins: there it is no alias, even without `as`. #}
{% macro _is_never_an_alias(name, select) %}
  {%- set places = modules.re.findall('(\\w+|\\W)\\s*\\b' ~ name ~ '\\b', select) -%}
  {%- do return(places != [] and places | map('lower') | reject('in', ('select', 'by', ',', '(', '.')) | list == []) -%}
{% endmacro %}

{# Whether a table takes the columns of a change set as they are, and a column is Nullable for all that is known. #}
{% macro _is_nullable_from_spark(model, name) %}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(model.config, model) -%}
  {%- set all_columns = 'select\\s+\\*\\s+from\\s+\\{\\{\\s*ref\\([^)]*\\)\\s*\\}\\}' -%}
  {%- set type = (model.columns.get(name) or {}).get('data_type') -%}
  {%- do return(
      modules.re.fullmatch(all_columns, versioned_collapsing._get_code_without_config(model) | trim) is not none
      and versioned_collapsing.get_change_sets(model) != []
      and not versioned_collapsing.is_required_column(name, options, [])
      and (versioned_collapsing.is_nullable_type(type) if type else not model.config.contract.enforced)
  ) -%}
{% endmacro %}

{% macro _get_code_without_config(model) %}
  {%- do return(modules.re.sub('(?s)\\{\\{\\s*config\\(.*?\\)\\s*\\}\\}|\\{#.*?#\\}', '', model.raw_code)) -%}
{% endmacro %}
