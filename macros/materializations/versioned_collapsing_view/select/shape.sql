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


{# The tables with signs, by the names that a query tree has for them. #}
{% macro _get_source_names(sources) %}
  {%- set names = {} -%}
  {%- for source in sources -%}
    {%- do names.update({source.schema ~ '.' ~ source.identifier: source}) -%}
  {%- endfor -%}
  {%- do return(names) -%}
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


{# Whether a node is in the `order by` of its query, which has no effect on sums. #}
{% macro _is_in_order_by(tree, node) %}
  {%- set found = [] -%}
  {%- for at in node.above + [node.at] if at > node.query and tree[at].section == 'ORDER BY' -%}
    {%- do found.append(at) -%}
  {%- endfor -%}
  {%- do return(found != []) -%}
{% endmacro %}
