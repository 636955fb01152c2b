{# How expressions use signs, by the place of each expression that uses some. `signs`: the tables whose signs are
   factors of its value. `wrong`: the place where a sign is not used as a factor, or none. Inner queries come first, and
   arguments come before their function. #}
{% macro _get_sign_uses(tree, shape, sources) %}
  {%- set names = versioned_collapsing._get_source_names(sources) -%}
  {%- set uses = {} -%}
  {#- By the id of a column's table or query, and the column's name. For a query also by the type, as the tree prints
      it. -#}
  {%- set columns = {} -%}
  {%- for table in shape.tables -%}
    {%- do columns.update({table.id ~ ' ' ~ names[table.name].sign: {'signs': [table.name], 'wrong': none}}) -%}
  {%- endfor -%}
  {%- for at in shape.queries | reverse -%}
    {%- for node in shape.owned[at] | reverse if node.at not in shape.holds -%}
      {%- set of = shape.ids.get(node.source, {}).kind if node.kind == 'COLUMN' else '' -%}
      {%- if node.kind == 'COLUMN' and not node.children -%}
        {%- set use = columns.get(node.source ~ ' ' ~ node.name ~ ('' if of == 'TABLE' else ' ' ~ node.type)) -%}
      {%- elif node.kind in ('QUERY', 'UNION') -%}
        {%- set use = versioned_collapsing._get_subquery_use(tree, node, columns) -%}
      {%- elif node.role in ('aggregate', 'window') or not node.children
          or node.children.values() | sum(start=[]) | select('in', uses) | list == [] -%}
        {%- set use = none -%}
      {%- else -%}
        {%- set use = versioned_collapsing._get_expression_use(tree, node, of == 'TABLE', uses) -%}
      {%- endif -%}
      {%- if use -%}{%- do uses.update({node.at: use}) -%}{%- endif -%}
    {%- endfor -%}
    {%- for child, column in zip(tree[at].children.get('PROJECTION', []), tree[at].columns) if child in uses -%}
      {%- do columns.update({tree[at].id ~ ' ' ~ column: uses[child]}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(uses) -%}
{% endmacro %}


{# How a subquery in an expression uses signs of the query around it, none if it does not. #}
{% macro _get_subquery_use(tree, node, columns) %}
  {%- set used = [] -%}
  {%- for inner in tree[node.at + 1 : node.at + node.size] if inner.kind == 'COLUMN' -%}
    {%- set key = inner.source ~ ' ' ~ inner.name -%}
    {%- set use = columns.get(key) or columns.get(key ~ ' ' ~ inner.type) -%}
    {%- if use -%}{%- do used.append(dict(use, wrong=inner.at if use.wrong is none else use.wrong)) -%}{%- endif -%}
  {%- endfor -%}
  {%- do return(used | first if used else none) -%}
{% endmacro %}


{# How an expression uses signs if some of its parts do. A column that a table computes uses signs like the expression
   that computes it. #}
{% macro _get_expression_use(tree, node, is_column_of_table, uses) %}
  {%- set used = [] -%}
  {%- for at in node.children.values() | sum(start=[]) if at in uses -%}{%- do used.append(uses[at]) -%}{%- endfor -%}
  {%- if used | selectattr('wrong', 'ne', none) | list -%}
    {%- do return(used | selectattr('wrong', 'ne', none) | first) -%}
  {%- elif is_column_of_table -%}
    {%- do return(used[0]) -%}
  {%- endif -%}
  {%- set signs = versioned_collapsing._get_factors(tree, node, uses) if node.kind == 'FUNCTION' else none -%}
  {%- do return({
      'signs': used | map(attribute='signs') | sum(start=[]) if signs is none else signs,
      'wrong': node.at if signs is none else none,
  }) -%}
{% endmacro %}


{# The tables whose signs are factors of what a function returns; none if one of the signs is no factor. A Decimal that
   is divided by a constant is refused: ClickHouse turns sum(x / 4) into the rounded sum(x) / 4. #}
{% macro _get_factors(tree, node, uses) %}
  {%- set arguments = node.children.ARGUMENTS -%}
  {%- set signs = [] -%}
  {%- for at in arguments -%}{%- do signs.append((uses.get(at) or {'signs': []}).signs) -%}{%- endfor -%}
  {%- set all = signs | sum(start=[]) -%}
  {%- if node.name == 'multiply' -%}
    {%- do return(all if all | unique(case_sensitive=true) | list | length == all | length else none) -%}
  {%- elif node.name == 'divide' and node.type.startswith('Float') or node.name in ('negate', 'materialize', 'identity')
      or versioned_collapsing._is_exact_cast(tree[arguments[0]].type, node) -%}
    {%- do return(none if signs[1:] | select | list else signs[0]) -%}
  {%- endif -%}
  {%- set last = arguments | length - 1 -%}
  {%- set terms = {
      'plus': [0, 1], 'minus': [0, 1], 'if': [1, 2], 'ifNull': [0, 1], 'coalesce': range(last + 1) | list,
      'multiIf': range(1, last, 2) | list + [last], 'caseWithExpression': range(2, last, 2) | list + [last],
  }.get(node.name, []) -%}
  {%- set wanted = all | unique(case_sensitive=true) | sort -%}
  {%- set other = [] -%}
  {%- for at in arguments -%}
    {%- set is_zero = versioned_collapsing._is_zero(tree[at]) -%}
    {%- set own = signs[loop.index0] | sort -%}
    {%- set fits = is_zero or own == wanted if loop.index0 in terms else own == [] -%}
    {%- do other.extend([] if fits else [at]) -%}
  {%- endfor -%}
  {%- do return(none if other else wanted) -%}
{% endmacro %}
