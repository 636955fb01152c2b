{# A select as ClickHouse understands it: its query tree after the first pass, in which every name is resolved and
   nothing is optimized yet. A list of nodes, each before those below it:
   `at` its place in the list, `id` ClickHouse's number for it, `kind` such as QUERY, TABLE, COLUMN or FUNCTION
   `name`, `type`, `source` (of a column, the id of its table or query), `role` (of a function or join)
   `rest` all attributes, `section` the part of the parent in which it stands, `children` their places by section
   `query` and `parent` the places of the query and of the node around it, `above` the places of all nodes around it
   `size` the number of nodes in its subtree, itself included, `columns` the lines that name a query's columns
   `settings` a query's own settings, `engine` the engine of a table, `materialized` how dbt builds it, if it does #}
{% macro read_query_tree(sql) %}
  {%- set query -%}
    select arrayStringConcat(groupArray(explain), '\n') as _dbt_tree
    from (
      explain query tree run_passes = 1, passes = 1
      {{ sql }}
    )
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set tree = versioned_collapsing.get_query_tree(run_query(query).rows[0]['_dbt_tree']) -%}
  {%- set engines = versioned_collapsing._read_engines(tree | selectattr('kind', 'equalto', 'TABLE')) -%}
  {%- set models = versioned_collapsing._get_materializations() -%}
  {%- for node in tree if node.kind == 'TABLE' -%}
    {%- do node.update({'engine': engines.get(node.name, ''), 'materialized': models.get(node.name, '')}) -%}
  {%- endfor -%}
  {%- do return(tree) -%}
{% endmacro %}

{# Makes the tree from the text that ClickHouse prints. A line that is not understood becomes an UNREAD node. A wide
   select has thousands of lines, so no macro is called for each line. #}
{% macro get_query_tree(text) %}
  {%- set line_pattern = '(?m)^(( *)(?:([A-Z_]+(?: JOIN)?) id: (\\d+)(?:, )?(.*)|([A-Z]+(?: [A-Z]+)*)(?: .*)?|.*))$' -%}
  {%- set patterns = versioned_collapsing._get_attribute_patterns() -%}
  {%- set tree, ids = [], {} -%}
  {#- By indentation: the last node, and the node and section to which lines that are indented further belong. -#}
  {%- set nodes, places = {}, {} -%}
  {#- The indentation of the lines that name a query's columns, which may look like anything. -#}
  {%- set names = namespace(indent=1000) -%}
  {%- for line, blanks, kind, id, rest, section in modules.re.findall(line_pattern, text) -%}
    {%- set indent = blanks | length -%}
    {%- if indent >= names.indent -%}
      {%- do nodes[names.indent - 4].columns.append(line[names.indent :]) -%}
    {%- elif kind == 'LIST' -%}
      {%- do places.update({indent: places[indent - 2]}) -%}
    {%- elif kind == 'ARGUMENTS' or section and indent - 2 in nodes -%}
      {%- do places.update({indent: [nodes[indent - 2], kind or section]}) -%}
      {%- if section == 'SETTINGS' -%}{%- do nodes[indent - 2].update({'settings': line}) -%}{%- endif -%}
      {%- set names.indent = indent + 2 if section == 'PROJECTION COLUMNS' else 1000 -%}
    {%- elif line and kind != 'ARGUMENT' -%}
      {%- set parent, part = places.get(indent - 2, [none, '']) -%}
      {%- set pattern, attributes = patterns.get(kind, ('.*', [])) -%}
      {%- set found = modules.re.fullmatch(pattern, rest) if kind else none -%}
      {%- set node = {
          'at': tree | length, 'id': id, 'kind': kind if found else 'UNREAD', 'rest': rest if kind else line,
          'name': '', 'type': '', 'source': '', 'role': '', 'parent': none, 'query': none, 'above': [],
          'section': part, 'children': {}, 'size': 1, 'columns': [], 'settings': '', 'engine': '',
          'materialized': '',
      } -%}
      {%- for name in attributes if found -%}{%- do node.update({name: found[loop.index] or ''}) -%}{%- endfor -%}
      {%- if parent -%}
        {%- do parent.children.setdefault(part, []).append(node.at) -%}
        {%- set query = parent.at if parent.kind == 'QUERY' else parent.query -%}
        {%- do node.update({'parent': parent.at, 'query': query, 'above': parent.above + [parent.at]}) -%}
      {%- endif -%}
      {%- do nodes.update({indent: node}) -%}
      {%- do ids.update({id: node}) -%}
      {%- do tree.append(node) -%}
    {%- endif -%}
    {%- if indent < names.indent - 2 -%}{%- set names.indent = 1000 -%}{%- endif -%}
  {%- endfor -%}
  {%- for node in tree | reverse -%}
    {#- A source that is no node is the argument of a lambda. -#}
    {%- if node.source and node.source not in ids -%}{%- do node.update({'source': ''}) -%}{%- endif -%}
    {%- if node.parent is not none -%}
      {%- do tree[node.parent].update({'size': tree[node.parent].size + node.size}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(tree) -%}
{% endmacro %}

{# How the attributes of a node are read, by its kind: a pattern, and the names of its groups. #}
{% macro _get_attribute_patterns() %}
  {%- do return({
      'COLUMN': ('.*?column_name: (.*), result_type: (.*?)(?:, source_id: (\\d+))?', ['name', 'type', 'source']),
      'CONSTANT': ('.*?constant_value: (.*), constant_value_type: (.*)', ['name', 'type']),
      'FUNCTION': ('.*?function_name: (.*?), function_type: (\\w+), .*?result_type: (.*)', ['name', 'role', 'type']),
      'JOIN': ('.*?strictness: (\\w+), kind: (\\w+).*', ['role', 'name']),
      'TABLE': ('.*?table_name: (.*?)((?:, (?:final|sample_size|sample_offset|offset)[\\w ]*: .*)?)', ['name', 'role']),
      'TABLE_FUNCTION': ('.*?table_function_name: (\\w+).*', ['name']),
  }) -%}
{% endmacro %}

{# The engines of tables, by their names as the tree has them: `schema.table`, without quotes. #}
{% macro _read_engines(tables) %}
  {%- set names = versioned_collapsing.quote_literals(tables | map(attribute='name') | unique(case_sensitive=true)) -%}
  {%- set query -%}
    select concat(database, '.', name) as _dbt_table, engine as _dbt_engine
    from system.tables
    where _dbt_table in ({{ names or "''" }})
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set engines = {} -%}
  {%- for row in run_query(query).rows -%}
    {%- do engines.update({row['_dbt_table']: row['_dbt_engine']}) -%}
  {%- endfor -%}
  {%- do return(engines) -%}
{% endmacro %}

{# How the models and snapshots of the project are built, by their names as the tree has them. #}
{% macro _get_materializations() %}
  {%- set models = {} -%}
  {%- for node in graph.nodes.values() if node.resource_type in ('model', 'snapshot') -%}
    {%- do models.update({node.schema ~ '.' ~ node.alias: node.config.materialized}) -%}
  {%- endfor -%}
  {%- do return(models) -%}
{% endmacro %}

{# How messages refer to a query. #}
{% macro _get_query_text(node) %}
  {%- set cte = modules.re.findall('cte_name: (\\w+)', node.rest) | first -%}
  {%- do return('the CTE ' ~ cte if cte else 'the select' if node.parent is none else 'a subquery') -%}
{% endmacro %}

{# The message about a sign that is not used as a factor of a sum. #}
{% macro _get_misuse_message(tree, use, sources) %}
  {%- set text = versioned_collapsing._get_expression_text(tree, use.wrong) -%}
  {%- set advice = 'sum(x * ' ~ versioned_collapsing._get_product_text(sources) ~ ')' -%}
  {%- do return(
      text ~ " uses a sign, of " ~ use.signs | unique | join(' and ') ~ ". A sign may only multiply what is summed, "
      ~ "and each sign once. Write " ~ advice ~ ", and use no sign elsewhere."
  ) -%}
{% endmacro %}

{# An expression of a query tree in SQL, for messages. #}
{% macro _get_expression_text(tree, at) %}
  {%- do return(modules.re.sub('#\\d*', '', versioned_collapsing._get_expression_identity(tree, at))) -%}
{% endmacro %}

{# The same text, in which each column also has the id of its table or query: if two expressions have equal texts, they
   have equal values. It goes from the last node to the first, because arguments come after their function. #}
{% macro _get_expression_identity(tree, at) %}
  {%- set operators = {
      'multiply': '*', 'divide': '/', 'plus': '+', 'minus': '-', 'equals': '=', 'notEquals': '<>', 'less': '<',
      'greater': '>', 'lessOrEquals': '<=', 'greaterOrEquals': '>=', 'and': 'and', 'or': 'or', 'in': 'in',
  } -%}
  {%- set texts = {} -%}
  {%- for node in tree[at : at + tree[at].size] | reverse -%}
    {%- set arguments = [] -%}
    {%- for child in node.children.get('PARAMETERS', []) + node.children.get('ARGUMENTS', []) -%}
      {%- do arguments.append(texts[child]) -%}
    {%- endfor -%}
    {%- if node.kind == 'FUNCTION' and node.name in operators -%}
      {%- set is_whole = node.at == at or tree[node.parent].name not in operators -%}
      {%- set text = arguments | join(' ' ~ operators[node.name] ~ ' ') -%}
      {%- do texts.update({node.at: text if is_whole else '(' ~ text ~ ')'}) -%}
    {%- elif node.kind == 'FUNCTION' -%}
      {%- do texts.update({node.at: node.name ~ '(' ~ arguments | join(', ') ~ ')'}) -%}
    {%- elif node.kind == 'COLUMN' -%}
      {%- do texts.update({node.at: node.name ~ '#' ~ node.source}) -%}
    {%- elif node.kind == 'CONSTANT' -%}
      {%- do texts.update({node.at: modules.re.sub('^[A-Z]\\w*?_(?=-?\\d)', '', node.name)}) -%}
    {%- elif node.kind == 'LAMBDA' -%}
      {%- do texts.update({node.at: '-> ' ~ texts.get(node.children.get('EXPRESSION', [none])[0])}) -%}
    {%- else -%}
      {%- do texts.update({node.at: '(select …)' if node.kind in ('QUERY', 'UNION') else node.name or node.kind}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(texts[at]) -%}
{% endmacro %}

{# The product of signs by which every sum of several tables must be multiplied. #}
{% macro _get_product_text(sources) %}
  {%- set factors = [] -%}
  {%- for source in sources -%}
    {%- do factors.append(source.sign if sources | length == 1 else source.identifier ~ '.' ~ source.sign) -%}
  {%- endfor -%}
  {%- do return(factors | join(' * ')) -%}
{% endmacro %}
