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
      {%- do log('A full refresh of ' ~ target ~ ' died before its tombstones were in their place. Putting them there', info=true) -%}
      {%- do run_query('exchange tables ' ~ of_build ~ ' and ' ~ tombstones) -%}
    {%- elif comment == versioned_collapsing._get_tombstones_comment(versioned_collapsing.read_uuid(build)) -%}
      {%- do run_query('drop table ' ~ tombstones) -%}
    {%- else -%}
      {%- do versioned_collapsing.stop_run(run,
          tombstones ~ " holds the deletes of another table than " ~ target ~ ". If they are those of this table, which was restored or copied, "
          ~ "say so: dbt run-operation adopt_table --args '{model: " ~ node.name ~ "}'. Otherwise rebuild it: " ~ versioned_collapsing.get_rebuild_command(node)
      ) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{# Makes the tombstones beside a table those of the table. #}
{% macro claim_tombstones(target) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target) -%}
  {%- set comment = versioned_collapsing._get_tombstones_comment(versioned_collapsing.read_uuid(target)) -%}
  {%- do run_query('alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) ~ ' modify comment ' ~ versioned_collapsing.quote_literal(comment)) -%}
{% endmacro %}


{# Stops the run when deletes of this table were remembered, and are no more: a late change would bring rows back. #}
{% macro refuse_lost_tombstones(target, options, ledger, run, model) %}
  {%- if options.remember_deletes and ledger.deletes and not var('forget_deletes', false)
      and versioned_collapsing.read_comment(versioned_collapsing.get_tombstones_relation(target)) is none -%}
    {%- do versioned_collapsing.stop_run(run,
        target ~ " has had " ~ versioned_collapsing.format_count(ledger.deletes, 'delete') ~ ", and " ~ versioned_collapsing.get_tombstones_relation(target)
        ~ ", which remembers them, is not there: late changes would bring rows back. Restore it from a backup, or rebuild the table: "
        ~ versioned_collapsing.get_rebuild_command(model) ~ ". To go on, and remember deletes from now on only: dbt run --select " ~ model.name
        ~ " --vars '{forget_deletes: true}'"
    ) -%}
  {%- endif -%}
{% endmacro %}


{# What a full refresh that died has left beside the table. #}
{% macro drop_leftover_build(build) %}
  {%- set query -%}
    select name
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(build.schema) }}
      and (name = {{ versioned_collapsing.quote_literal(build.identifier) }} or startsWith(name, {{ versioned_collapsing.quote_literal(build.identifier ~ '__') }}))
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do run_query('drop table if exists ' ~ build.incorporate(path={'identifier': row['name']}, type='table')) -%}
  {%- endfor -%}
{% endmacro %}


{# The comment of a table; none when it is not there. #}
{% macro read_comment(table) %}
  {%- set query -%}
    select comment
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(table.schema) }} and name = {{ versioned_collapsing.quote_literal(table.identifier) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do return(row['comment'] or '') -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


{# The UUID of a table, as text; empty when it is not there. #}
{% macro read_uuid(table) %}
  {%- set query -%}
    select toString(uuid) as uuid
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(table.schema) }} and name = {{ versioned_collapsing.quote_literal(table.identifier) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- do return(row['uuid']) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}


{% macro _get_tombstones_comment(uuid) %}
  {%- do return('Deletes of the table ' ~ uuid) -%}
{% endmacro %}
