{# Whether any delete is remembered: where none is, none has to be looked for. #}
{% macro has_tombstones(target, options) %}
  {%- if not options.remember_deletes -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- do return(
      run_query('select count() as _dbt_n from ' ~ versioned_collapsing.get_tombstones_relation(target) ~ ' '
      ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] | int > 0
  ) -%}
{% endmacro %}


{# Keys by their first column and a hash: an IN over tuples costs more than reading the whole table.
   A collision only reads a row too many. #}
{% macro get_key_lookup_sql(unique_key, changes) -%}
  {%- set first = adapter.quote(unique_key[0]) -%}
  {{ first }} in (select {{ first }} from {{ changes }})
  {%- if unique_key | length > 1 %}
    and cityHash64({{ get_quoted_csv(unique_key) }}) in (select cityHash64({{ get_quoted_csv(unique_key) }})
        from {{ changes }})
  {%- endif %}
{%- endmacro %}
