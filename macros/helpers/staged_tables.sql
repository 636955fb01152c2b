{# Where the whole change set is staged: what is applied at once is `changes`, all of it or a chunk. #}
{% macro get_change_set_relation(target_relation, options) %}
  {%- do return(
      versioned_collapsing.get_helper_relation(target_relation, 'change_set' if options.chunks > 1 else 'changes')
  ) -%}
{% endmacro %}


{% macro drop_staged(target_relation, roles=('change_set', 'changes', 'resolved', 'uncollapsed', 'torn', 'signed')) %}
  {%- set relations = [] -%}
  {%- for role in roles -%}
    {%- do relations.append(versioned_collapsing.get_helper_relation(target_relation, role) | string) -%}
  {%- endfor -%}
  {%- do run_query('drop table if exists ' ~ relations | join(', ')) -%}
{% endmacro %}
