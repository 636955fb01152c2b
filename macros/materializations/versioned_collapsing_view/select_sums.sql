{# The problems with the columns of the view, which must be sums and their groups. #}
{% macro _get_output_problems(tree, shape, order_by, partition_by) %}
  {%- set outputs = versioned_collapsing._get_outputs(tree, shape) -%}
  {%- set problems = versioned_collapsing.get_virtual_column_problems(
      outputs | map(attribute='name') | list, "the view"
  ) -%}
  {%- for output in outputs if output.kind == 'mixed' -%}
    {%- do problems.append(
        output.name ~ " is " ~ versioned_collapsing._get_expression_text(tree, output.at) ~ ", which is an "
        ~ "expression over sums. Keep each sum as a column of its own. Cast what is summed, not the sum. Compute the "
        ~ "rest when you read the view."
    ) -%}
  {%- endfor -%}
  {%- for output in outputs if output.kind == 'late' -%}
    {%- do problems.append(
        output.name ~ " is computed outside the select that groups. Move "
        ~ versioned_collapsing._get_expression_text(tree, output.at) ~ " into that select, and group by it."
    ) -%}
  {%- endfor -%}
  {%- if outputs | selectattr('kind', 'equalto', 'sum') | list == [] -%}
    {%- do problems.append("No column of the view is a sum. Count at least the rows, with signed_count().") -%}
  {%- endif -%}
  {%- do problems.extend(versioned_collapsing._get_group_problems(tree, shape, outputs)) -%}
  {%- do problems.extend(versioned_collapsing._get_key_problems(outputs, order_by, partition_by)) -%}
  {%- do return(problems) -%}
{% endmacro %}

{# Each column of the view with its `name`, `type` and `kind`, and its place `at` below the queries that rename it. #}
{% macro _get_outputs(tree, shape) %}
  {%- set outputs = [] -%}
  {%- for at, column in zip(tree[0].children.PROJECTION, tree[0].columns) -%}
    {%- set type = ' ' ~ tree[at].type -%}
    {%- set name = column[: -(type | length)] if column.endswith(type) else column -%}
    {%- do outputs.append(dict(versioned_collapsing._get_output(tree, shape, at), name=name, type=tree[at].type)) -%}
  {%- endfor -%}
  {%- do return(outputs) -%}
{% endmacro %}

{# The kind of an expression above or among the sums. `sum`: a sum, perhaps renamed and cast. `key`: an expression over
   what is grouped by. `mixed`: an expression over sums. `late`: an expression over keys, above the sums. #}
{% macro _get_output(tree, shape, at) %}
  {%- set aggregator = tree[shape.aggregators[0]] -%}
  {%- set chain = aggregator.above + [aggregator.at] -%}
  {#- `names`: the place behind all renaming; `casts`: the place behind casts too. -#}
  {%- set behind = namespace(names=at, casts=at, is_found=false) -%}
  {%- for _ in range(100) if not behind.is_found -%}
    {%- set node = tree[behind.casts] -%}
    {%- set source = shape.ids.get(node.source, {'at': none}) -%}
    {%- set column = node.name ~ ' ' ~ node.type -%}
    {%- set was_renamed = behind.names == behind.casts -%}
    {%- if node.kind == 'COLUMN' and source.at in chain and column in source.columns -%}
      {%- set behind.casts = source.children.PROJECTION[source.columns.index(column)] -%}
      {%- set behind.names = behind.casts if was_renamed else behind.names -%}
    {%- elif versioned_collapsing._is_sum_kept(tree, node) -%}
      {%- set behind.casts = node.children.ARGUMENTS[0] -%}
    {%- else -%}
      {%- set behind.is_found = true -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if tree[behind.casts].role == 'aggregate' -%}
    {%- do return({'at': behind.casts, 'kind': 'sum'}) -%}
  {%- endif -%}
  {%- set kinds = [] -%}
  {%- for node in tree[behind.names : behind.names + tree[behind.names].size] -%}
    {%- set is_aggregate = node.kind == 'FUNCTION' and node.role == 'aggregate' and node.query == aggregator.at -%}
    {%- set is_column = node.kind == 'COLUMN' and node.at != at and shape.ids.get(node.source, {}).at in chain -%}
    {%- do kinds.append('sum' if is_aggregate
        else versioned_collapsing._get_output(tree, shape, node.at).kind if is_column else 'key') -%}
  {%- endfor -%}
  {%- set kind = 'mixed' if 'sum' in kinds or 'mixed' in kinds
      else 'key' if tree[behind.names].query == aggregator.at else 'late' -%}
  {%- do return({'at': behind.names, 'kind': kind}) -%}
{% endmacro %}

{# Whether a function of a sum is still a sum: a cast that changes no number, or 0 instead of null, which adds nothing
   either. #}
{% macro _is_sum_kept(tree, node) %}
  {%- set arguments = node.children.get('ARGUMENTS', []) -%}
  {%- if node.kind != 'FUNCTION' or not arguments -%}{%- do return(false) -%}{%- endif -%}
  {%- set other = [] -%}
  {%- for at in arguments[1:] if not versioned_collapsing._is_zero(tree[at]) -%}
    {%- do other.append(at) -%}
  {%- endfor -%}
  {%- do return(
      versioned_collapsing._is_exact_cast(tree[arguments[0]].type, node)
      or node.name in ('ifNull', 'coalesce') and other == []
  ) -%}
{% endmacro %}

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

{# The tables with signs, by the names that a query tree has for them. #}
{% macro _get_source_names(sources) %}
  {%- set names = {} -%}
  {%- for source in sources -%}
    {%- do names.update({source.schema ~ '.' ~ source.identifier: source}) -%}
  {%- endfor -%}
  {%- do return(names) -%}
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

{# A sign has no place in a condition or a group. #}
{% macro _get_sign_problems(tree, shape, sources, uses) %}
  {%- set places = [] -%}
  {%- for at in shape.queries -%}
    {%- for clause in ('WHERE', 'PREWHERE', 'GROUP BY') -%}
      {%- do places.extend(tree[at].children.get(clause, [])) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- for at in shape.joins -%}
    {%- for clause in ('JOIN EXPRESSION', 'JOIN EXPRESSIONS') -%}
      {%- do places.extend(tree[at].children.get(clause, [])) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- set problems = [] -%}
  {%- for at in places if at in uses -%}
    {%- set use = uses[at] -%}
    {%- set wrong = at if use.wrong is none else use.wrong -%}
    {%- do problems.append(versioned_collapsing._get_misuse_message(tree, dict(use, wrong=wrong), sources)) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# Every aggregate must be a sum of something times every sign. #}
{% macro _get_sum_problems(tree, shape, sources, uses) %}
  {%- set product = versioned_collapsing._get_product_text(sources) -%}
  {%- set problems = [] -%}
  {%- for node in shape.owned[shape.aggregators[0]] if node.kind == 'FUNCTION' and node.role == 'aggregate'
      and not versioned_collapsing._is_in_order_by(tree, node) -%}
    {%- if node.name not in ('sum', 'sumIf') -%}
      {%- do problems.append(
          versioned_collapsing._get_expression_text(tree, node.at) ~ " is not a sum. "
          ~ versioned_collapsing._get_aggregate_advice(node.name, product)
      ) -%}
    {%- else -%}
      {%- set summed, condition = (node.children.ARGUMENTS + [none])[:2] -%}
      {%- set use = uses.get(summed) or {'signs': [], 'wrong': none} -%}
      {%- set wrong = uses.get(condition) or use -%}
      {%- set missing = versioned_collapsing._get_missing_signs(sources, use.signs) -%}
      {%- if wrong.wrong is not none or condition in uses -%}
        {%- set at = condition if wrong.wrong is none else wrong.wrong -%}
        {%- do problems.append(versioned_collapsing._get_misuse_message(tree, dict(wrong, wrong=at), sources)) -%}
      {%- elif missing and not versioned_collapsing._is_zero(tree[summed]) -%}
        {%- do problems.append(
            versioned_collapsing._get_expression_text(tree, node.at) ~ " does not multiply by the sign of "
            ~ missing | join(' and ') ~ ". Multiply by every sign: sum(x * " ~ product ~ ")."
        ) -%}
      {%- endif -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# Whether a node is in the `order by` of its query, which has no effect on sums. #}
{% macro _is_in_order_by(tree, node) %}
  {%- set found = [] -%}
  {%- for at in node.above + [node.at] if at > node.query and tree[at].section == 'ORDER BY' -%}
    {%- do found.append(at) -%}
  {%- endfor -%}
  {%- do return(found != []) -%}
{% endmacro %}

{# What to write instead of an aggregate that is not a sum. #}
{% macro _get_aggregate_advice(name, product) %}
  {%- set family = name | lower -%}
  {%- if family.startswith('count') -%}
    {%- do return("Count with the signs: signed_count(), that is sum(" ~ product ~ ").") -%}
  {%- elif family.startswith('avg') -%}
    {%- do return(
        "Keep sum(x * " ~ product ~ ") and sum(" ~ product ~ "), and divide them when you read the view."
    ) -%}
  {%- elif family.startswith('sum') -%}
    {%- do return("Write sum(x * " ~ product ~ "), or sumIf(x * " ~ product ~ ", condition).") -%}
  {%- endif -%}
  {%- do return(
      "Group by the value as well, with sum(" ~ product ~ ") as its count, and compute " ~ name ~ " when you read the "
      ~ "view."
  ) -%}
{% endmacro %}

{% macro _get_missing_signs(sources, signs) %}
  {%- set missing = [] -%}
  {%- for name, source in versioned_collapsing._get_source_names(sources).items() if name not in signs -%}
    {%- do missing.append(source.identifier) -%}
  {%- endfor -%}
  {%- do return(missing) -%}
{% endmacro %}
