{# An expression of a query tree in SQL, for messages. #}
{% macro _get_expression_text(tree, at) %}
  {%- do return(modules.re.sub('#\\d*', '', versioned_collapsing._get_expression_identity(tree, at))) -%}
{% endmacro %}


{# The same with the number of what a column is of: two expressions with one text have one value. From the last node to
   the first, since arguments stand after their function. #}
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


{# A query as messages call it. #}
{% macro _get_query_text(node) %}
  {%- set cte = modules.re.findall('cte_name: (\\w+)', node.rest) | first -%}
  {%- do return('the CTE ' ~ cte if cte else 'the select' if node.parent is none else 'a subquery') -%}
{% endmacro %}


{# The product of signs with which a sum of several tables multiplies. #}
{% macro _get_product_text(sources) %}
  {%- set factors = [] -%}
  {%- for source in sources -%}
    {%- do factors.append(source.sign if sources | length == 1 else source.identifier ~ '.' ~ source.sign) -%}
  {%- endfor -%}
  {%- do return(factors | join(' * ')) -%}
{% endmacro %}


{# A sign that is used otherwise than as a factor of a sum. #}
{% macro _get_misuse_message(tree, use, sources) %}
  {%- set text = versioned_collapsing._get_expression_text(tree, use.wrong) -%}
  {%- set advice = 'sum(x * ' ~ versioned_collapsing._get_product_text(sources) ~ ')' -%}
  {%- do return(
      text ~ " uses a sign, of " ~ use.signs | unique | join(' and ') ~ ". A sign may only multiply what is summed, "
      ~ "and each sign once. Write " ~ advice ~ ", and use no sign elsewhere."
  ) -%}
{% endmacro %}
