{# The problems with clauses whose result is not a sum over the rows. #}
{% macro _get_clause_problems(tree, shape) %}
  {%- set problems = [] -%}
  {%- for at in shape.queries -%}
    {%- set node = tree[at] -%}
    {%- set name = versioned_collapsing._get_query_text(node) -%}
    {%- for clause, advice in versioned_collapsing._get_clause_advice().items() if clause in node.children -%}
      {%- do problems.append(name ~ " has `" ~ clause | lower ~ "`. " ~ advice) -%}
    {%- endfor -%}
    {%- for flag, what in versioned_collapsing._get_flag_advice().items() if flag in node.rest -%}
      {%- do problems.append(name ~ " has " ~ what) -%}
    {%- endfor -%}
    {%- for setting in modules.re.findall('(?:^| )(\\w+)=', node.settings)
        if not modules.re.fullmatch(versioned_collapsing._get_harmless_settings(), setting) -%}
      {%- do problems.append(
          name ~ " has the setting " ~ setting ~ ", which may change what it returns. Leave it out."
      ) -%}
    {%- endfor -%}
    {%- for owned in shape.owned[at] if owned.kind == 'SORT' and 'with_fill: 1' in owned.rest -%}
      {%- do problems.append(name ~ " has `with fill`, which adds rows. Fill when you read the view.") -%}
    {%- endfor -%}
    {%- for owned in shape.owned[at] if owned.name in ('arrayJoin', 'unnest')
        and versioned_collapsing._is_in_order_by(tree, owned) -%}
      {%- do problems.append(name ~ " has " ~ owned.name ~ " in its `order by`, which repeats rows. Leave it out.") -%}
    {%- endfor -%}
    {%- for owned in shape.owned[at] if owned.kind == 'FUNCTION' and owned.role == 'window' -%}
      {%- do problems.append(
          name ~ " has the window function " ~ owned.name ~ ", whose value depends on other rows. Compute it when you "
          ~ "read the view."
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- for at in shape.unions -%}
    {%- do problems.append(
        "The select has a union of tables with signs. Make a view for each part, and combine them with `union all` "
        ~ "when you read them."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _get_clause_advice() %}
  {%- set limit = 'Which rows it keeps depends on the other rows. Leave it out, and limit when you read the view.' -%}
  {%- do return({
      'LIMIT': limit,
      'LIMIT BY': limit,
      'OFFSET': limit,
      'HAVING': 'A group that it drops could not come back. Leave it out, and filter groups when you read the view.',
      'QUALIFY': 'It depends on other rows. Leave it out, and filter when you read the view.',
      'PREWHERE': 'A view cannot read changes with `prewhere`. Write `where`.',
  }) -%}
{% endmacro %}


{% macro _get_flag_advice() %}
  {%- set adds = ', which adds rows that are sums of other rows. Group by all columns, and add the totals when you '
      ~ 'read the view.' -%}
  {%- do return({
      'is_distinct: 1': '`distinct`, which drops the number of equal rows. Group by the columns instead, and sum '
          ~ 'the signs.',
      'is_group_by_with_totals: 1': '`with totals`' ~ adds,
      'group_by_type: rollup': '`rollup`' ~ adds,
      'group_by_type: cube': '`cube`' ~ adds,
      'group_by_type: grouping_sets': '`grouping sets`' ~ adds,
      'is_group_by_with_rollup: 1': '`rollup`' ~ adds,
      'is_group_by_with_cube: 1': '`cube`' ~ adds,
      'is_group_by_with_grouping_sets: 1': '`grouping sets`' ~ adds,
      'is_recursive_with: 1': '`with recursive`. Write CTEs that do not read themselves.',
  }) -%}
{% endmacro %}


{% macro _get_harmless_settings() %}
  {%- do return(
      'max_threads|max_insert_threads|max_memory_usage|max_block_size|max_execution_time|join_algorithm|join_use_nulls'
      ~ '|log_comment|max_bytes_before_external_\\w+|max_bytes_ratio_before_external_\\w+|grace_hash_join_\\w+'
  ) -%}
{% endmacro %}


{# One query groups and sums the rows of all tables. Queries above it may only rename its columns, and queries below it
   may only select rows. #}
{% macro _get_nesting_problems(tree, shape, sources) %}
  {%- set problems = [] -%}
  {%- set form = 'sum(x * ' ~ versioned_collapsing._get_product_text(sources) ~ ')' -%}
  {%- if shape.tables and not shape.aggregators -%}
    {%- do problems.append("The select sums nothing. Write `select key, " ~ form ~ " … group by key`.") -%}
  {%- endif -%}
  {%- for at in shape.aggregators[:-1] -%}
    {%- do problems.append(
        versioned_collapsing._get_query_text(tree[shape.aggregators[-1]]) ~ " groups rows, and "
        ~ versioned_collapsing._get_query_text(tree[at]) ~ " groups them again. Group once, at the end, over rows that "
        ~ "are joined before."
    ) -%}
  {%- endfor -%}
  {%- if shape.aggregators | length == 1 -%}
    {%- set aggregator = tree[shape.aggregators[0]] -%}
    {%- for at in shape.queries if at in aggregator.above -%}
      {%- set name = versioned_collapsing._get_query_text(tree[at]) -%}
      {%- if tree[tree[at].children['JOIN TREE'][0]].kind != 'QUERY' -%}
        {%- do problems.append(
            name ~ " joins sums. Join the tables first, then group and sum the rows of the join."
        ) -%}
      {%- elif 'WHERE' in tree[at].children -%}
        {%- do problems.append(name ~ " filters sums. Filter the rows before they are summed, or the view's rows.") -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}
