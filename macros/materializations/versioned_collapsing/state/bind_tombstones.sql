{# The comment of the tombstones has the UUID of their table. A full refresh exchanges the table, and then its
   tombstones. If it dies in between, the next run finds a UUID that does not match, and completes the exchange. #}
{% macro bind_tombstones(target_relation, tables, apply, model) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- set wanted = versioned_collapsing._get_tombstones_comment(tables.target.uuid) -%}
  {%- if tables.tombstones.comment == '' -%}
    {%- do versioned_collapsing.claim_tombstones(target_relation, tables.target.uuid) -%}
  {%- elif tables.build_tombstones and tables.build_tombstones.comment == wanted -%}
    {%- do log(
        'A full refresh of ' ~ target_relation ~ ' was interrupted before it replaced the tombstones. Replacing them',
        info=true
    ) -%}
    {%- set build = versioned_collapsing.get_helper_relation(target_relation, 'build') -%}
    {%- do versioned_collapsing.exchange_with(versioned_collapsing.get_tombstones_relation(build), tombstones) -%}
  {%- else -%}
    {%- set of_build = versioned_collapsing._get_tombstones_comment(tables.build.uuid if tables.build else '') -%}
    {%- set are_ours = tables.tombstones.comment == of_build -%}
    {%- do versioned_collapsing.validate_tombstones_are_ours(target_relation, are_ours, apply, model) -%}
    {%- do versioned_collapsing.drop_tables([tombstones]) -%}
  {%- endif -%}
{% endmacro %}


{# Whether the tombstones beside a table, if there are any, are its own. #}
{% macro has_own_tombstones(tables) %}
  {%- set wanted = versioned_collapsing._get_tombstones_comment(tables.target.uuid) -%}
  {%- do return(not tables.tombstones or tables.tombstones.comment == wanted) -%}
{% endmacro %}


{# Marks the tombstones beside a table as belonging to it. #}
{% macro claim_tombstones(target_relation, uuid) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- set comment = versioned_collapsing.quote_literal(versioned_collapsing._get_tombstones_comment(uuid)) -%}
  {%- do run_query('alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) ~ ' modify comment ' ~ comment) -%}
{% endmacro %}


{% macro _get_tombstones_comment(uuid) %}
  {%- do return('Deletes of the table ' ~ uuid) -%}
{% endmacro %}
