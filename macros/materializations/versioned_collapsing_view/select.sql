{# Why the changes of its tables cannot be added to a view of this select. The select must be a sum that is linear in
   each table with signs.

   For one table, V(new) - V(old) is V(change). For two tables, it is V(dA, B) + V(A, dB) - V(dA, dB), and so on. That
   is true if each row of the result is, for each table, a sum over the table's rows of the sign times a value. So a
   select may have inner joins, one `group by`, and sums of products with every sign. It may have nothing that depends
   on how many rows there are. #}
{% macro get_select_problems(tree, sources, order_by, partition_by=[]) %}
  {%- set shape = versioned_collapsing._get_shape(tree, sources) -%}
  {%- set problems = versioned_collapsing._get_unread_problems(tree) -%}
  {%- do problems.extend(versioned_collapsing._get_occurrence_problems(shape, sources)) -%}
  {%- do problems.extend(versioned_collapsing._get_table_problems(tree, shape)) -%}
  {%- do problems.extend(versioned_collapsing._get_function_problems(tree)) -%}
  {%- do problems.extend(versioned_collapsing._get_clause_problems(tree, shape)) -%}
  {%- do problems.extend(versioned_collapsing._get_nesting_problems(tree, shape, sources)) -%}
  {%- do problems.extend(versioned_collapsing._get_join_problems(tree, shape)) -%}
  {%- if shape.aggregators | length == 1 and shape.unions == [] and shape.tables | length == sources | length -%}
    {%- set uses = versioned_collapsing._get_sign_uses(tree, shape, sources) -%}
    {%- do problems.extend(versioned_collapsing._get_sign_problems(tree, shape, sources, uses)) -%}
    {%- do problems.extend(versioned_collapsing._get_sum_problems(tree, shape, sources, uses)) -%}
    {%- do problems.extend(versioned_collapsing._get_output_problems(tree, shape, order_by, partition_by)) -%}
  {%- endif -%}
  {%- do return(problems | unique(case_sensitive=true) | list) -%}
{% endmacro %}

{# Where the tables with signs stand in a select.
   `tables` their nodes in `from` and `join`
   `elsewhere` their nodes in subqueries of expressions
   `holds` the names of the tables below a place, for the queries, unions and joins on the way to them
   `queries`, `joins`, `unions` those places, from the outside in
   `owned` the nodes of each query, without those of queries in it; `ids` each node by its id
   `aggregators` the queries among `queries` that group rows or aggregate #}
{% macro _get_shape(tree, sources) %}
  {%- set shape = {
      'tables': [], 'elsewhere': [], 'holds': {}, 'queries': [], 'joins': [], 'unions': [], 'owned': {}, 'ids': {},
      'aggregators': [],
  } -%}
  {%- set names = versioned_collapsing._get_source_names(sources) -%}
  {%- for node in tree -%}
    {%- do shape.owned.setdefault(node.query, []).append(node) -%}
    {%- do shape.ids.update({node.id: node}) -%}
    {%- if node.kind == 'TABLE' and node.name in names -%}
      {%- set is_joined = versioned_collapsing._is_joined(tree, node) -%}
      {%- do shape.tables.append(node) if is_joined else shape.elsewhere.append(node) -%}
      {%- for at in node.above if is_joined -%}
        {%- do shape.holds.setdefault(at, []).append(node.name) -%}
      {%- endfor -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for at in shape.holds | sort -%}
    {%- set kind = tree[at].kind -%}
    {%- do shape[{'QUERY': 'queries', 'UNION': 'unions'}.get(kind, 'joins')].append(at) -%}
    {%- if kind == 'QUERY' and versioned_collapsing._is_aggregator(tree[at], shape.owned[at]) -%}
      {%- do shape.aggregators.append(at) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(shape) -%}
{% endmacro %}

{# Whether nothing but `from`, joins and unions lies between a table and the whole select. #}
{% macro _is_joined(tree, node) %}
  {%- set ways = ('JOIN TREE', 'LEFT TABLE EXPRESSION', 'RIGHT TABLE EXPRESSION', 'TABLE EXPRESSION', 'QUERIES') -%}
  {%- set other = [] -%}
  {%- for at in node.above[1:] + [node.at] if tree[at].section not in ways -%}
    {%- do other.append(at) -%}
  {%- endfor -%}
  {%- do return(other == []) -%}
{% endmacro %}

{% macro _is_aggregator(query, owned) %}
  {%- set sums = owned | selectattr('kind', 'equalto', 'FUNCTION') | selectattr('role', 'equalto', 'aggregate') -%}
  {%- do return('GROUP BY' in query.children or sums | list != []) -%}
{% endmacro %}

{# The problems with a query tree that is not what it seems: the names of columns may contain any text. #}
{% macro _get_unread_problems(tree) %}
  {%- set problems = [] -%}
  {%- for node in tree if node.kind == 'UNREAD' -%}
    {%- do problems.append(
        "This part of ClickHouse's query tree is not understood: " ~ node.rest ~ ". Write the select without it."
    ) -%}
  {%- endfor -%}
  {%- for node in tree if node.kind == 'QUERY'
      and node.columns | length != node.children.get('PROJECTION', []) | length -%}
    {%- do problems.append(
        "A column has a name that is not understood, in " ~ versioned_collapsing._get_query_text(node)
        ~ ". Give it a name without line breaks."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# Each table must be in the select exactly once, where it can be replaced by its changes. #}
{% macro _get_occurrence_problems(shape, sources) %}
  {%- set problems = [] -%}
  {%- for name, source in versioned_collapsing._get_source_names(sources).items() -%}
    {%- set joined = shape.tables | selectattr('name', 'equalto', name) | list -%}
    {%- set elsewhere = shape.elsewhere | selectattr('name', 'equalto', name) | list -%}
    {%- if elsewhere -%}
      {%- do problems.append(
          source.identifier ~ " is read by a subquery in an expression, such as `in (select …)`. Then a change of it "
          ~ "changes other rows. Join it with `inner join`, and multiply by its sign."
      ) -%}
    {%- elif not joined -%}
      {%- do problems.append(
          "The select refs " ~ source.identifier ~ ", but does not read from it. Read from it, or leave out the ref."
      ) -%}
    {%- endif -%}
    {%- if joined | length > 1 -%}
      {%- do problems.append(
          "The select reads " ~ source.identifier ~ " " ~ joined | length ~ " times. A CTE that is used twice counts "
          ~ "twice. Read each table once, or make two views and join these when you read them."
      ) -%}
    {%- endif -%}
    {%- if joined | rejectattr('role', 'equalto', '') | list -%}
      {%- do problems.append(
          source.identifier ~ " is read with `final` or `sample`. The signs already cancel what is not live. Write "
          ~ "`from " ~ source.identifier ~ "`."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

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
