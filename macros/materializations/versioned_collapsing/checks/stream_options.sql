{# A change set of signed rows is written as it is, so options that depend on stored rows have no meaning. #}
{% macro _stream_problems(options) %}
  {%- set problems = [] -%}
  {%- if options.combine -%}
    {%- do problems.append(
        "combine needs the stored rows, which `old_state: stream` does not read. Combine the changes before the change "
        ~ "set is built, or set old_state: lookup."
    ) -%}
  {%- endif -%}
  {%- if options.delete_version == 'ignore' -%}
    {%- do problems.append(
        "delete_version: 'ignore' needs the stored rows, which `old_state: stream` does not read. Set old_state: "
        ~ "lookup."
    ) -%}
  {%- endif -%}
  {%- if options.publish == 'atomic' -%}
    {%- do problems.append(
        "publish: 'atomic' cannot complete an interrupted run with `old_state: stream`, because it compares with the "
        ~ "stored rows. Remove the option."
    ) -%}
  {%- endif -%}
  {%- if options.chunks is integer and options.chunks > 1 -%}
    {%- do problems.append(
        "chunks is " ~ options.chunks ~ ", but `old_state: stream` looks up no stored rows and needs no chunks. Remove "
        ~ "the option."
    ) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}
