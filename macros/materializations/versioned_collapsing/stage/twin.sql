{# Has a table of the structure of another there, empty: with its columns, keys, indexes and projections, so that its
   parts can be attached to the other. #}
{% macro prepare_twin(twin, relation, apply) %}
  {%- set found = apply.staged[relation.identifier] -%}
  {%- do versioned_collapsing.prepare_staged_table(
      twin, versioned_collapsing.get_create_twin_sql(twin, relation, found), apply,
      table_settings=(found.engine_full.rsplit(' SETTINGS ', 1) + [''])[1]
  ) -%}
{% endmacro %}


{# A twin is no replicated table, whatever the other is: only this apply needs it. #}
{% macro get_create_twin_sql(twin, relation, found) -%}
  {%- set text = "'(?:[^'\\\\]|\\\\.)*'" -%}
  {%- set engine = modules.re.sub(
      '^(?:Replicated|Shared)(\\w*MergeTree)\\(' ~ text ~ ', ' ~ text ~ '(?:, )?', '\\1(',
      found.engine_full.rsplit(' SETTINGS ', 1)[0]
  ) -%}
  {#- What the other is made of, so that a change of it makes another twin; its comment is no part of that. -#}
  {%- set structure = found.create_table_query | replace(found.comment, '') if found.comment
      else found.create_table_query -%}
  /* {{ local_md5(structure) }} */
  create table {{ twin }} as {{ relation }}
  engine = {{ engine }}
{%- endmacro %}
