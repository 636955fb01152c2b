{# The options of a view, and the tables that it reads with the node, the relation and the options of each.
   validate_view_options checks them. #}
{% macro get_view_options(config, model, this, sql) %}
  {%- set engine = versioned_collapsing.get_option(config, 'engine', 'SummingMergeTree') -%}
  {%- set order_by = versioned_collapsing.as_list(versioned_collapsing.get_option(config, 'order_by')) -%}
  {%- set partition_by = versioned_collapsing.as_list(versioned_collapsing.get_option(config, 'partition_by')) -%}
  {%- set settings = versioned_collapsing.get_option(config, 'settings', {}) -%}
  {%- do return({
      'sources': versioned_collapsing.get_view_sources(model, this),
      'engine': engine,
      'order_by': order_by,
      'partition_by': partition_by,
      'settings': settings,
      'definition': local_md5(sql ~ [engine, order_by, partition_by, settings]),
  }) -%}
{% endmacro %}

{# The tables that a view reads, in the order of their unique_id, each with its position. All views lock them in this
   order. #}
{% macro get_view_sources(model, this) %}
  {%- set sources = [] -%}
  {%- for node in graph.nodes.values()
      if node.unique_id in model.depends_on.nodes and node.config.materialized == 'versioned_collapsing' -%}
    {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
    {%- do sources.append({
        'name': node.name,
        'node': node,
        'relation': this.incorporate(path={'schema': node.schema, 'identifier': node.alias}, type='table'),
        'options': options,
        'sign': options.sign,
    }) -%}
  {%- endfor -%}
  {%- set placed = [] -%}
  {%- for source in sources | sort(attribute='node.unique_id') -%}
    {%- do placed.append(dict(source, position=loop.index0)) -%}
  {%- endfor -%}
  {%- do return(placed) -%}
{% endmacro %}

{# Columns of a change set are Nullable unless the model declares otherwise, but a key of a table cannot be Nullable. #}
{% macro validate_view_columns(model, options, sql) %}
  {%- set problems = [] -%}
  {%- if not options.settings.get('allow_nullable_key', 0) | int -%}
    {%- for option in ('order_by', 'partition_by') -%}
      {%- do problems.extend(versioned_collapsing._read_nullable_key_problems(option, options, sql)) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'versioned_collapsing_view') -%}
{% endmacro %}

{% macro _read_nullable_key_problems(option, options, sql) %}
  {%- set problems = [] -%}
  {%- for expression in options[option] -%}
    {%- set query = '(select ' ~ expression ~ ' from ' ~ versioned_collapsing.get_subquery_sql(sql) ~ ')' -%}
    {%- for type in versioned_collapsing.read_types(query).values() if 'Nullable(' in type -%}
      {%- set commands = [] -%}
      {%- for source in versioned_collapsing._read_nullable_sources(expression, options.sources) -%}
        {%- do commands.append(versioned_collapsing.get_rebuild_command(source.node)) -%}
      {%- endfor -%}
      {%- do problems.append(
          versioned_collapsing.get_nullable_key_problem(option ~ ": " ~ expression ~ " is " ~ type, commands)
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# `commands` rebuild the tables that may have the column. #}
{% macro get_nullable_key_problem(what, commands) %}
  {%- do return(
      what ~ ", but a key of a table cannot be null. Replace nulls in the select with ifNull. Or set "
      ~ "settings={'allow_nullable_key': 1}. Or declare the `data_type` of the column in the properties of its table, "
      ~ "and rebuild that table: " ~ commands | join(', or ')
  ) -%}
{% endmacro %}

{# The tables that have a Nullable column of a name in an expression. All of them, if none has: the name is an alias. #}
{% macro _read_nullable_sources(expression, sources) %}
  {%- set found = [] -%}
  {%- for source in sources -%}
    {%- for column in versioned_collapsing.read_table_columns(source.relation) if 'Nullable(' in column.type
        and modules.re.search('\\b' ~ modules.re.escape(column.name) ~ '\\b', expression) -%}
      {%- do found.append(source) if source not in found -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(found or sources) -%}
{% endmacro %}
