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
