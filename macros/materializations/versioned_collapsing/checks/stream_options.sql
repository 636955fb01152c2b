{# A change set of signed rows is written as it is: what depends on stored rows has no meaning there. #}
{% macro _stream_problems(options) %}
  {%- set problems = [] -%}
  {%- if options.combine -%}
    {%- do problems.append(
        "combine: needs the stored rows, which `old_state: stream` does not read. Combine before the change set is "
        ~ "made, or set old_state: lookup."
    ) -%}
  {%- endif -%}
  {%- if options.delete_version == 'ignore' -%}
    {%- do problems.append(
        "delete_version: 'ignore' needs the stored rows, which `old_state: stream` does not read. Set old_state: "
        ~ "lookup."
    ) -%}
  {%- endif -%}
  {%- if options.publish == 'direct' -%}
    {%- do problems.append("publish: 'direct' cannot complete a run with `old_state: stream`. Leave it out.") -%}
  {%- endif -%}
  {%- if options.chunks is integer and options.chunks > 1 -%}
    {%- do problems.append(
        "chunks: is " ~ options.chunks ~ "; with `old_state: stream` nothing is looked up, and nothing to be chunked. "
        ~ "Leave it out."
    ) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}
