{# An apply that began to write cannot be completed without what it staged. #}
{% macro validate_staged_tables(target, options, unfinished, run) %}
  {%- set needed = ['signed'] if unfinished.is_stream else ['changes', 'uncollapsed', 'torn', 'signed']
      if unfinished.is_journal else ['changes'] -%}
  {%- if unfinished.status == 'chunk applied' -%}
    {%- set needed = ['change_set'] -%}
  {%- elif unfinished.chunks > 1 -%}
    {%- do needed.append('change_set') -%}
  {%- endif -%}
  {%- set missing = [] -%}
  {%- for role in needed if load_relation(versioned_collapsing.get_helper_relation(target, role)) is none -%}
    {%- do missing.append(versioned_collapsing.get_helper_relation(target, role) | string) -%}
  {%- endfor -%}
  {%- if missing -%}
    {%- do versioned_collapsing.stop_run(run,
        "Run " ~ unfinished.run_id ~ " on " ~ target ~ " died while it wrote, and " ~ missing | join(', ')
        ~ ", which it would be completed "
        ~ "from, is not there. Rebuild the table: " ~ unfinished.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}
