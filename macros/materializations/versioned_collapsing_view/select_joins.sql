{# A join is linear in both sides if it pairs two rows without regard to other rows, as an inner join does. If the right
   side is constant, the join may also keep a left row that finds no partner. #}
{% macro _get_join_problems(tree, shape) %}
  {%- set problems = [] -%}
  {%- for at in shape.joins if tree[at].kind == 'JOIN' -%}
    {%- set join = tree[at] -%}
    {%- set right = join.children['RIGHT TABLE EXPRESSION'][0] -%}
    {%- set has_right = right in shape.holds or tree[right] in shape.tables -%}
    {%- set is_inner = join.name in ('CROSS', 'COMMA') or join.name == 'INNER' and join.role == 'ALL' -%}
    {%- if not is_inner -%}
      {%- do problems.extend(versioned_collapsing._get_outer_join_problems(tree, join, right, has_right)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro _get_outer_join_problems(tree, join, right, has_right) %}
  {%- set strictness = '' if join.role in ('ALL', 'UNSPECIFIED') else join.role | lower ~ ' ' -%}
  {%- set name = strictness ~ join.name | lower ~ ' join' -%}
  {%- set what = versioned_collapsing._get_table_text(tree[right]) -%}
  {%- set problems = [] -%}
  {%- if has_right or join.name != 'LEFT' and join.role == 'ALL' -%}
    {%- do problems.append(
        "The `" ~ name ~ "` with " ~ what ~ " is not a sum: what one row becomes depends on whether another is there. "
        ~ "Use `inner join`, or make two views and join these when you read them. Only a table without signs may stand "
        ~ "at the right of a `left join`."
    ) -%}
  {%- elif join.role == 'ASOF' or join.name != 'LEFT'
      or join.role in ('ANY', 'SEMI') and versioned_collapsing._is_read_outside(tree, join, right) -%}
    {%- do problems.append(
        "The `" ~ name ~ "` with " ~ what ~ " takes one of several rows, and can take another one in the next run. Use "
        ~ "`left join` or `inner join`, with a condition that fits one row of " ~ what ~ "."
    ) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}

{# How messages refer to a table, subquery or join. #}
{% macro _get_table_text(node) %}
  {%- do return(
      node.name if node.kind == 'TABLE' else versioned_collapsing._get_query_text(node) if node.kind == 'QUERY'
      else 'other tables'
  ) -%}
{% endmacro %}

{# Whether columns of a join's right side are read by anything but the join. #}
{% macro _is_read_outside(tree, join, right) %}
  {%- set ids = [] -%}
  {%- for node in tree[right : right + tree[right].size] -%}{%- do ids.append(node.id) -%}{%- endfor -%}
  {%- set reads = [] -%}
  {%- for node in tree[: join.at] + tree[join.at + join.size :] if node.kind == 'COLUMN' and node.source in ids -%}
    {%- do reads.append(node.at) -%}
  {%- endfor -%}
  {%- do return(reads != []) -%}
{% endmacro %}
