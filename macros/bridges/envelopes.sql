{# The change set in Debezium's envelopes, whose `before`, `after` and `source` are JSON. Values stay as text, which the
   table takes only if its types hold them. A row without an operation is a tombstone of Kafka, and says nothing. An
   update that changes the key deletes the row of the old one. #}
{% macro get_envelope_changes_sql(found, layout) -%}
  {%- set key = versioned_collapsing.get_unique_key(model.config) -%}
  select
    {%- for name in layout.payload %}
    {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    _dbt_version as _version,
    _dbt_is_old or _dbt_op = 'd' as _is_deleted,
    _dbt_op = 't' as _is_truncate,
    toUInt8(_dbt_is_old) as _derived,
    {%- for name, sql in layout.control.items() %}
    if(_dbt_is_old or _dbt_op in ('d', 't'), [], {{ sql }}) as {{ name }},
    {%- endfor %}
    {{ versioned_collapsing.get_watermark_columns_sql(found, '_dbt_watermark') }}
  from (
    select
      _dbt_version,
      _dbt_op,
      _dbt_watermark,
      _dbt_is_old,
      multiIf(_dbt_is_old or _dbt_op = 'd', _dbt_before, _dbt_op = 't', '', _dbt_after) as _dbt_image,
      {%- for name in layout.payload %}
      {{ versioned_collapsing._get_envelope_value_sql('_dbt_image', name) }}
        as {{ versioned_collapsing.quote_name(name) }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      select
        {{ layout.version }} as _dbt_version,
        ifNull(op, '') as _dbt_op,
        {{ layout.watermark }} as _dbt_watermark,
        ifNull(toString(before), '') as _dbt_before,
        ifNull(toString(after), '') as _dbt_after
      from (select {{ found.all_columns }} from {{ found.relation }})
      where {{ layout.condition }}
        and {{ layout.is_of_table }}
        and ifNull(op, '') not in ('', 'm')
        and not throwIf(
          ifNull(op, '') not in ('', 'm', 'c', 'r', 'u', 'd', 't'),
          'An envelope has an unknown op; known are c, r, u, d, t and m. Correct the row'
        )
    )
    array join if(
      _dbt_op = 'u' and ({{ versioned_collapsing._get_envelope_key_differs_sql(key) }}), [false, true], [false]
    ) as _dbt_is_old
  )
{%- endmacro %}


{# The fields of an event that say where it comes from and when it was committed, as texts. #}
{% macro get_envelope_fields() %}
  {%- set fields = {'op': "ifNull(op, '')"} -%}
  {%- set names = ['connector', 'db', 'schema', 'table', 'collection', 'lsn', 'commit_lsn', 'sequence', 'file', 'pos',
      'row', 'ts_ms', 'ord'] -%}
  {%- for name in names -%}
    {%- do fields.update({name: versioned_collapsing._get_field_text_sql("ifNull(toString(source), '')", name)}) -%}
  {%- endfor -%}
  {%- do fields.update({'table': 'ifNull(' ~ fields.table ~ ', ' ~ fields.collection ~ ')'}) -%}
  {%- do return(fields) -%}
{% endmacro %}


{% macro _get_field_text_sql(image, name) %}
  {%- do return(
      'JSONExtract(' ~ image ~ ', ' ~ versioned_collapsing.quote_literal(name) ~ ", 'Nullable(String)')"
  ) -%}
{% endmacro %}


{# The value of a row as text. ClickHouse's functions for JSON make a float of a number with a point or an exponent. So
   its digits are taken from the text: what stands after its name and is the same float. #}
{% macro _get_envelope_value_sql(image, name) -%}
  {%- set field = image ~ ', ' ~ versioned_collapsing.quote_literal(name) -%}
  {%- set key = '"' ~ name | replace('\\', '\\\\') | replace('"', '\\"') ~ '"' -%}
  {%- set pattern = modules.re.escape(key) ~ '\\s*:\\s*(-?[0-9][0-9.eE+-]*)' -%}
  {%- set digits = 'arrayDistinct(arrayFilter(_dbt_text -> toFloat64OrZero(_dbt_text) = JSONExtractFloat(' ~ field
      ~ '), extractAll(' ~ image ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ')))' -%}
  multiIf(
    JSONType({{ field }}) = 'Null', null,
    JSONType({{ field }}) = 'String', JSONExtractString({{ field }}),
    JSONType({{ field }}) <> 'Double', JSONExtractRaw({{ field }}),
    throwIf(
      empty({{ digits }})
        or (length({{ digits }}) > 1 and arrayMax(_dbt_text -> length(_dbt_text), {{ digits }}) > 15),
      {{ versioned_collapsing.quote_literal(
          'The digits of a number in an envelope cannot be told. Land such numbers as texts: '
          ~ 'decimal.handling.mode=string'
      ) }}
    ), null,
    {{ digits }}[1]
  )
{%- endmacro %}


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
