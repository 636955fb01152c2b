{# The aggregate that folds the values of one column. Only changes that are taken and set the column count. #}
{% macro _fold_column_sql(name, options) -%}
  {%- set column = '_dbt_marked.' ~ adapter.quote(name) -%}
  {%- set version = '_dbt_marked.' ~ adapter.quote(options.version) -%}
  {%- set is_set = versioned_collapsing._is_set_sql(name) -%}
  {%- set is_value = is_set ~ ' and isNotNull(' ~ column ~ ')' -%}
  {%- set policy = options.combine.get(name, 'latest') -%}
  {%- if policy == 'greatest' -%}
    maxIf({{ column }}, {{ is_set }})
  {%- elif policy == 'least' -%}
    minIf({{ column }}, {{ is_set }})
  {%- elif policy == 'coalesce' -%}
    tupleElement(argMaxIf(tuple({{ column }}), {{ version }}, {{ is_value }}), 1)
  {%- elif policy == 'first' -%}
    tupleElement(argMinIf(tuple({{ column }}), {{ version }}, {{ is_value }}), 1)
  {%- else -%}
    tupleElement(argMaxIf(tuple({{ column }}), {{ version }}, {{ is_set }}), 1)
  {%- endif -%}
{%- endmacro %}


{% macro _is_set_sql(name) -%}
  _dbt_marked._dbt_is_taken and not has(_dbt_marked._dbt_unset, {{ versioned_collapsing.quote_literal(name) }})
{%- endmacro %}


{# The name of a column if no change sets it, otherwise an empty text. #}
{% macro _unset_name_sql(name) -%}
  if(countIf({{ versioned_collapsing._is_set_sql(name) }}) = 0, {{ versioned_collapsing.quote_literal(name) }}, '')
{%- endmacro %}


{# Whether a change leaves columns as they are stored, apart from those that the model no longer has. #}
{% macro _is_partial_sql(unset, columns) -%}
  arrayExists(_dbt_name -> _dbt_name not in ('', {{ versioned_collapsing.quote_literals(columns.absent) }}),
      {{ unset }})
{%- endmacro %}
