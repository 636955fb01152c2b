{# Stops the run when the longest name of a helper, that of a lock which is taken over, would be longer than
   ClickHouse lets a table be called. It counts a character that is no letter, digit or underscore as three. #}
{% macro validate_name_length(this) %}
  {%- set query -%}
    select
      getMaxTableNameLengthForDatabase({{ versioned_collapsing.quote_literal(this.schema) }}) as most,
      {{ versioned_collapsing.quote_literal(versioned_collapsing.get_helper_relation(this, 'lock_'
          ~ local_md5('')).identifier) }} as longest,
      3 * length(longest) - 2 * length(replaceRegexpAll(longest, '[^a-zA-Z0-9_]', '')) as taken
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if found['taken'] | int > found['most'] | int -%}
    {%- do exceptions.raise_compiler_error(
        "alias: " ~ this.identifier ~ " is too long. With the names of its helper tables it takes " ~ found['taken']
        ~ " of the " ~ found['most']
        ~ " characters that ClickHouse has for a table in " ~ this.schema ~ ". Make it "
        ~ versioned_collapsing.format_count(found['taken'] | int - found['most'] | int, 'character') ~ " shorter."
    ) -%}
  {%- endif -%}
{% endmacro %}
