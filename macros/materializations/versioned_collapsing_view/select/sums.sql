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


{% macro _get_missing_signs(sources, signs) %}
  {%- set missing = [] -%}
  {%- for name, source in versioned_collapsing._get_source_names(sources).items() if name not in signs -%}
    {%- do missing.append(source.identifier) -%}
  {%- endfor -%}
  {%- do return(missing) -%}
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
