{# The change set in Debezium's envelopes, whose `before`, `after` and `source` are JSON. Values stay as text, which the
   table takes only if its types hold them. A row without an operation is a tombstone of Kafka, and says nothing. An
   update that changes the key deletes the row of the old one. #}
{% macro get_envelope_changes_sql(found, layout) -%}
  {%- set key = versioned_collapsing.get_unique_key(model.config) -%}
  select
    {%- for name in layout.payload %}
    {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {{ layout.version }} as _version,
    _dbt_is_old or op = 'd' as _is_deleted,
    op = 't' as _is_truncate,
    toUInt8(_dbt_is_old) as _derived,
    {%- for name, sql in layout.control.items() %}
    if(_dbt_is_old or op in ('d', 't'), [], {{ sql }}) as {{ name }},
    {%- endfor %}
    {{ versioned_collapsing.get_watermark_columns_sql(found, layout.watermark) }}
  from (
    select
      *,
      _dbt_is_old,
      multiIf(_dbt_is_old or op = 'd', _dbt_before, op = 't', '', _dbt_after) as _dbt_image,
      {%- for name in layout.payload %}
      {{ versioned_collapsing._get_envelope_value_sql('_dbt_image', name) }}
        as {{ versioned_collapsing.quote_name(name) }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      select
        {{ found.all_columns }},
        ifNull(toString(before), '') as _dbt_before,
        ifNull(toString(after), '') as _dbt_after
      from {{ found.relation }}
      where {{ layout.condition }}
        and ifNull(op, '') not in ('', 'm')
        and not throwIf(
          ifNull(op, '') not in ('', 'm', 'c', 'r', 'u', 'd', 't'),
          'An envelope has an unknown op; known are c, r, u, d, t and m. Correct the row'
        )
    )
    array join if(
      op = 'u' and ({{ versioned_collapsing._get_envelope_key_differs_sql(key) }}), [false, true], [false]
    ) as _dbt_is_old
  )
{%- endmacro %}


{# Null, which stops the run, if the source has no such position. #}
{% macro get_envelope_version_sql() %}
  {%- do return("JSONExtract(ifNull(toString(source), ''), 'lsn', 'Nullable(UInt64)')") -%}
{% endmacro %}


{% macro _get_envelope_value_sql(image, name) %}
  {%- do return(
      'JSONExtract(' ~ image ~ ', ' ~ versioned_collapsing.quote_literal(name) ~ ", 'Nullable(String)')"
  ) -%}
{% endmacro %}


{% macro _get_envelope_key_differs_sql(key) %}
  {%- set differs = [] -%}
  {%- for name in key -%}
    {%- do differs.append(
        'ifNull(' ~ versioned_collapsing._get_envelope_value_sql('_dbt_before', name) ~ ' <> '
        ~ versioned_collapsing._get_envelope_value_sql('_dbt_after', name) ~ ', false)'
    ) -%}
  {%- endfor -%}
  {%- do return(differs | join(' or ') or 'false') -%}
{% endmacro %}


{% macro validate_envelopes(found, columns) %}
  {%- set problems = [] -%}
  {%- if not columns -%}
    {%- do problems.append(
        found.relation ~ " has envelopes (op, before, after), so columns is needed: the names of the row's columns, "
        ~ "such as columns=['order_id', 'amount']."
    ) -%}
  {%- endif -%}
  {%- for name in ('before', 'after', 'source') -%}
    {%- set type = (found.columns | selectattr('name', 'equalto', name) | first | default({'type': 'missing'})).type -%}
    {%- if versioned_collapsing.get_base_type(type) != 'String' and not type.startswith('JSON') -%}
      {%- do problems.append(
          found.relation ~ ": the column " ~ name ~ " is " ~ type ~ "; it is to be a String or JSON that has the "
          ~ "envelope's " ~ name ~ " as JSON."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change set') -%}
{% endmacro %}
