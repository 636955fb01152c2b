{# The server's release, and how long the names of tables may be there, beside the longest one that a table's helpers
   have: that of a lock which is taken over. A character that is no letter, digit or underscore counts as three. #}
{% macro read_server(this) %}
  {%- set longest = versioned_collapsing.get_helper_relation(this, 'lock_' ~ local_md5('')).identifier -%}
  {%- set query -%}
    select
      version() as version,
      getMaxTableNameLengthForDatabase({{ versioned_collapsing.quote_literal(this.schema) }}) as most,
      {{ versioned_collapsing.quote_literal(longest) }} as longest,
      3 * length(longest) - 2 * length(replaceRegexpAll(longest, '[^a-zA-Z0-9_]', '')) as taken
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({'version': found['version'], 'most': found['most'] | int, 'taken': found['taken'] | int}) -%}
{% endmacro %}


{# Older releases lack columns of system.tables and types in expressions that the macros use, and before 26.3 FINAL with
   a filter on the sign could return cancelled rows. #}
{% macro validate_server(server) %}
  {%- if server.version.split('.')[:2] | map('int') | list < [26, 7] -%}
    {%- do exceptions.raise_compiler_error(
        "versioned_collapsing needs ClickHouse 26.7 or newer, but this is ClickHouse " ~ server.version
        ~ ". Update ClickHouse, or the package chdb."
    ) -%}
  {%- endif -%}
{% endmacro %}
