{# Stops the run on a server that is too old: 26.2 has the settings of deduplication that the apply relies on,
   and before 26.3 FINAL with a filter on the sign could return cancelled rows. #}
{% macro validate_server() %}
  {%- set version = run_query('select version() as version '
      ~ versioned_collapsing.get_settings_sql()).rows[0]['version'] -%}
  {%- set release = version.split('.')[:2] | map('int') | list -%}
  {%- if release < [26, 3] -%}
    {%- do exceptions.raise_compiler_error(
        "versioned_collapsing needs ClickHouse 26.3 or newer, and the server is " ~ version ~ "."
    ) -%}
  {%- endif -%}
{% endmacro %}
