{# A view that was made by a run with --empty or --sample reads only a part, as long as it exists. A view that was made
   before the first batch landed reads nothing. A change set that reads such a view would mark batches as applied that
   nobody has read. #}
{% macro validate_whole_views(model, landed, taken) %}
  {%- if versioned_collapsing.is_partial_run() -%}{%- do return(none) -%}{%- endif -%}
  {%- set problems = [] -%}
  {%- set locations = [] -%}
  {%- for batch in taken -%}
    {%- do locations.extend(landed[batch].locations) -%}
  {%- endfor -%}
  {%- for unique_id in versioned_collapsing._get_built_upstream(model.depends_on.nodes) if taken -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set relation = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- if relation is not none and relation.is_view -%}
      {%- set text = versioned_collapsing._read_view_text(relation) -%}
      {%- if versioned_collapsing.is_text_of_part(text) -%}
        {%- do problems.append(
            relation ~ ' was built by a run with --empty or --sample and reads only a part of its input'
        ) -%}
      {%- endif -%}
      {%- for location in locations | unique if versioned_collapsing.get_empty_landing_mark(location) in text -%}
        {%- do problems.append(relation ~ ' was built before the first batch landed in ' ~ location) -%}
      {%- endfor -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_whole_inputs(model, problems) -%}
{% endmacro %}


{% macro _read_view_text(relation) %}
  {%- for row in run_query('describe table extended ' ~ relation).rows if row[0] == 'View Text' -%}
    {%- do return(row[1] | string) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}


{# Whether a text is what dbt writes to read an input with --empty (nothing) or --sample (a span of time). #}
{% macro is_text_of_part(text) %}
  {%- set span = "\\S+ >= '\\d{4}-\\d\\d-\\d\\d[ T][^']*' and \\S+ < '\\d{4}-\\d\\d-\\d\\d[ T][^']*'" -%}
  {%- set part = '\\(select \\* from (`[^`]*`|[^()`])+ where (false limit 0|' ~ span ~ ')\\)' -%}
  {%- do return(modules.re.search(part, text) is not none) -%}
{% endmacro %}
