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
  {%- if node.kind != 'FUNCTION' or not arguments -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set other = [] -%}
  {%- for at in arguments[1:] if not versioned_collapsing._is_zero(tree[at]) -%}
    {%- do other.append(at) -%}
  {%- endfor -%}
  {%- do return(
      versioned_collapsing._is_exact_cast(tree[arguments[0]].type, node)
      or node.name in ('ifNull', 'coalesce') and other == []
  ) -%}
{% endmacro %}
