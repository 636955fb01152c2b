{# Each expression of `group by` must be a column of the view, or an element of a column that is a tuple. Otherwise
   several groups would look the same in the view. ClickHouse reads `group by tuple(a, b)` as `group by a, b`. #}
{% macro _get_group_problems(tree, shape, outputs) %}
  {%- set known = [] -%}
  {%- for output in outputs -%}
    {%- set elements = tree[output.at].children.get('ARGUMENTS', []) if tree[output.at].name == 'tuple' else [] -%}
    {%- for at in [output.at] + elements -%}
      {%- do known.append(versioned_collapsing._get_expression_identity(tree, at)) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- set problems = [] -%}
  {%- for at in tree[shape.aggregators[0]].children.get('GROUP BY', []) if tree[at].kind != 'CONSTANT'
      and versioned_collapsing._get_expression_identity(tree, at) not in known -%}
    {%- set text = versioned_collapsing._get_expression_text(tree, at) -%}
    {%- do problems.append(
        "The select groups by " ~ text ~ ", which is no column of the view. Select it, and name it in order_by."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# A SummingMergeTree adds up the rows that are equal in `order_by`. If a key is not in `order_by`, the engine keeps any
   of its values, or adds them up. If a sum is in `order_by` or `partition_by`, the engine does not add it up.
   Expressions over keys may be in both: they are equal in rows with equal keys. #}
{% macro _get_key_problems(outputs, order_by, partition_by) %}
  {%- set keys = outputs | rejectattr('kind', 'in', ('sum', 'mixed')) | map(attribute='name') | list -%}
  {%- set sums = outputs | selectattr('kind', 'in', ('sum', 'mixed')) | map(attribute='name') | list -%}
  {%- set ordered = versioned_collapsing._get_plain_entries(order_by) -%}
  {%- set problems = [] -%}
  {%- for name in keys if name not in ordered -%}
    {%- do problems.append(
        "order_by lacks " ~ name ~ ", which is not a sum. ClickHouse adds up the rows that are equal in order_by, and "
        ~ "keeps one value of " ~ name ~ ". Add " ~ name ~ " to order_by, or leave the column out of the select."
    ) -%}
  {%- endfor -%}
  {%- for output in outputs if output.name in keys -%}
    {%- do problems.extend(versioned_collapsing.get_key_type_problems(output.name, output.type)) -%}
  {%- endfor -%}
  {%- for option, entries in {'order_by': order_by, 'partition_by': partition_by}.items() -%}
    {%- for name in versioned_collapsing._get_names_in(entries) if name in sums -%}
      {%- do problems.append(
          option ~ " has " ~ name ~ ", which is a sum. ClickHouse would not add up rows of a group that differ in it. "
          ~ "Leave it out of " ~ option ~ "."
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# The entries of an option, cut at their commas, and names without their quotes. #}
{% macro _get_plain_entries(entries) %}
  {%- set plain = [] -%}
  {%- for entry in entries -%}
    {%- set text = versioned_collapsing.strip_parentheses(entry | string | trim) -%}
    {%- for part in versioned_collapsing.cut_at_commas(text) -%}
      {%- set quoted = modules.re.fullmatch('([`"])(.*)\\1', part) -%}
      {%- do plain.append(quoted[2] if quoted else part) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(plain) -%}
{% endmacro %}


{# All names in the expressions of an option, except the names of functions. #}
{% macro _get_names_in(entries) %}
  {%- set names = [] -%}
  {%- for entry in entries -%}
    {%- set text = modules.re.sub("'(?:[^'\\\\]|\\\\.)*'", '', entry | string) -%}
    {%- for quoted, plain in modules.re.findall('[`"]([^`"]+)[`"]|(\\w+)(?!\\w*\\s*\\()', text) -%}
      {%- do names.append(quoted or plain) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(names) -%}
{% endmacro %}
