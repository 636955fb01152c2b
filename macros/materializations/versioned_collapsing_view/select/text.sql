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


{# What messages call a query. #}
{% macro _get_query_text(node) %}
  {%- set cte = modules.re.findall('cte_name: (\\w+)', node.rest) | first -%}
  {%- do return('the CTE ' ~ cte if cte else 'the select' if node.parent is none else 'a subquery') -%}
{% endmacro %}


{# The product of signs by which every sum of several tables must be multiplied. #}
{% macro _get_product_text(sources) %}
  {%- set factors = [] -%}
  {%- for source in sources -%}
    {%- do factors.append(source.sign if sources | length == 1 else source.identifier ~ '.' ~ source.sign) -%}
  {%- endfor -%}
  {%- do return(factors | join(' * ')) -%}
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
