{# The rows of a query as mappings, with the values that JSON has. dbt's own reading of results guesses types: it takes
   the text '007' for a number. #}
{% macro read_json_rows(sql) %}
  {%- set query -%}
    select toValidUTF8(toJSONString(groupArray(tuple(*)))) as _dbt_json
    from ({{ sql }})
    {{ versioned_collapsing.get_settings_sql(none, {
        'enable_named_columns_in_function_tuple': 1,
        'output_format_json_named_tuples_as_objects': 1,
        'output_format_json_quote_64bit_integers': 0,
        'output_format_json_quote_decimals': 0,
        'output_format_json_quote_denormals': 1,
    }) }}
  {%- endset -%}
  {%- do return(fromjson(run_query(query).rows[0]['_dbt_json'])) -%}
{% endmacro %}
