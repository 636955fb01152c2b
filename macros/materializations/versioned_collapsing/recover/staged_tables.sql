{# The staged tables from which an apply would be completed, but which cannot be used: they do not exist, they have no
   rows (for example on another replica), or they cannot be attached any more because the table was altered. Only the
   first one, which has the changes or the signed rows, must have rows: there may be nothing to publish or to remember
   yet. #}
{% macro get_missing_tables(target_relation, unfinished, staged) %}
  {%- set missing = [] -%}
  {%- for role in versioned_collapsing.get_needed_roles(unfinished) -%}
    {%- set relation = versioned_collapsing.get_helper_relation(target_relation, role) -%}
    {%- if relation.identifier not in staged or loop.first and not staged[relation.identifier].row_count | int -%}
      {%- do missing.append(relation | string) -%}
    {%- elif role == 'signed' and unfinished.status == 'chunk staged' -%}
      {%- set twin = versioned_collapsing.get_create_twin_sql(
          relation, target_relation, staged[target_relation.identifier]
      ) -%}
      {%- if staged[relation.identifier].comment != versioned_collapsing.get_staged_comment(relation, twin) -%}
        {%- do missing.append(relation | string) -%}
      {%- endif -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(missing) -%}
{% endmacro %}


{# The staged tables that are needed to continue the run that died. #}
{% macro get_needed_roles(unfinished) %}
  {%- if unfinished.is_stream -%}
    {%- do return(['signed']) -%}
  {%- endif -%}
  {%- set needed = [versioned_collapsing.get_change_set_role(unfinished)] -%}
  {%- if unfinished.is_journal or unfinished.status == 'chunk staged' -%}
    {%- do needed.extend(['signed'] + (['deletes'] if unfinished.remembers_deletes else [])) -%}
  {%- endif -%}
  {%- do return(needed) -%}
{% endmacro %}
