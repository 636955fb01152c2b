{# Where to read the lines of a staging model that a change set holds: the table in which the change set has parsed
   them, or else the staging model. `events` may be a query, if a test is about a part of the rows. #}
{% macro read_kept_lines(change_set, events) %}
  {%- if execute and events.identifier is defined and not versioned_collapsing.is_partial_run() -%}
    {%- set parsed = versioned_collapsing.get_parsed_lines_relation(change_set, events) -%}
    {%- set manifest = versioned_collapsing.get_change_set_manifest_relation(change_set) -%}
    {%- set rows = run_query('select * from ' ~ manifest ~ ' limit 1').rows -%}
    {%- if rows and parsed.identifier in (rows[0].get('parsed_lines') or '').split(',') -%}
      {%- do return(parsed) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return(events) -%}
{% endmacro %}
