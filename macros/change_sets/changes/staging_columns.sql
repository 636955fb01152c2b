{# The Spark types of a staging model's columns, by name; none while dbt parses, or if the model is not built. In a unit
   test, dbt gives the given rows a name of its own. The columns are then those of the model with the original name,
   which must be in the change set's schema. #}
{% macro read_column_types(events) %}
  {%- set types = {} -%}
  {%- if execute -%}
    {%- set built = api.Relation.create(
        schema=events.schema or model.schema,
        identifier=events.identifier | replace('__dbt__cte__', ''),
    ) -%}
    {%- for column in adapter.get_columns_in_relation(built) -%}
      {%- do types.update({column.name: column.dtype}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(types) -%}
{% endmacro %}


{# The row's own columns except the key. The names of all other columns begin with an underscore. #}
{% macro get_payload(columns, key) %}
  {%- set payload = [] -%}
  {%- for name in columns if name not in key and not name.startswith('_') -%}
    {%- do payload.append(name) -%}
  {%- endfor -%}
  {%- do return(payload) -%}
{% endmacro %}
