{# Tombstones say whose they are: in their comment they have the UUID of their table. A full refresh exchanges the
   table, then its tombstones; when it dies between the two, the next run finds them apart and ends what was begun. #}
{% macro bind_tombstones(target, build, run, node) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target) -%}
  {%- set comment = versioned_collapsing.read_comment(tombstones) -%}
  {%- set wanted = versioned_collapsing._get_tombstones_comment(versioned_collapsing.read_uuid(target)) -%}
  {%- if comment == '' -%}
    {%- do versioned_collapsing.claim_tombstones(target) -%}
  {%- elif comment is not none and comment != wanted -%}
    {%- set of_build = versioned_collapsing.get_tombstones_relation(build) -%}
    {%- if versioned_collapsing.read_comment(of_build) == wanted -%}
      {%- do log(
          'A full refresh of ' ~ target ~ ' died before its tombstones were in their place. Putting them there',
          info=true
      ) -%}
      {%- do run_query('exchange tables ' ~ of_build ~ ' and ' ~ tombstones) -%}
    {%- elif comment == versioned_collapsing._get_tombstones_comment(versioned_collapsing.read_uuid(build)) -%}
      {%- do run_query('drop table ' ~ tombstones) -%}
    {%- else -%}
      {%- do versioned_collapsing.stop_run(run,
          tombstones ~ " holds the deletes of another table than " ~ target ~ ". If they are those of this table, "
          ~ "which was restored or copied, "
          ~ "say so: dbt run-operation adopt_table --args '{model: " ~ node.name ~ "}'. Otherwise rebuild it: "
          ~ versioned_collapsing.get_rebuild_command(node)
      ) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{# Makes the tombstones beside a table those of the table. #}
{% macro claim_tombstones(target) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target) -%}
  {%- set comment = versioned_collapsing._get_tombstones_comment(versioned_collapsing.read_uuid(target)) -%}
  {%- do run_query(
      'alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) ~ ' modify comment '
      ~ versioned_collapsing.quote_literal(comment)
  ) -%}
{% endmacro %}


{% macro _get_tombstones_comment(uuid) %}
  {%- do return('Deletes of the table ' ~ uuid) -%}
{% endmacro %}
