{# The change set in a table that Airbyte's ClickHouse destination lands, deduplicated or appended. #}
{% macro airbyte_changes(
    landing, version=none, watermark='_airbyte_extracted_at', overlap='1 day', through=none, toasted=[],
    unavailable_value='__debezium_unavailable_value', deleted_at='_ab_cdc_deleted_at'
) -%}
  {%- if not execute -%}{%- do return(versioned_collapsing.get_unread_landing_sql()) -%}{%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- set mark = versioned_collapsing.get_landed_column(found, [deleted_at | lower]) -%}
  {%- set position = version or versioned_collapsing.get_airbyte_position_sql(found) -%}
  {%- do versioned_collapsing.validate_airbyte_position(found, position) -%}
  {%- set own = [deleted_at] -%}
  {%- for name in found.spelling if name.startswith(('_airbyte_', '_ab_cdc_')) -%}
    {%- do own.append(name) -%}
  {%- endfor -%}
  {{ versioned_collapsing.landed_changes(
      landing, position, 'isNotNull(' ~ mark ~ ')' if mark else 'false', watermark, overlap, through, own, toasted,
      unavailable_value
  ) }}
{%- endmacro %}

{# The position of a change in the order in which Airbyte has read the log, which is that of commits. `_ab_cdc_cursor`
   counts in this order (MySQL, SQL Server, MongoDB). For PostgreSQL, there is the time of reading, in milliseconds, and
   within a millisecond `_ab_cdc_lsn`. `_ab_cdc_lsn` alone is the position of a row in the log, which is not the order
   of commits. None if a table has neither. #}
{% macro get_airbyte_position_sql(found) %}
  {%- set cursor = versioned_collapsing.get_landed_column(found, ['_ab_cdc_cursor']) -%}
  {%- set lsn = versioned_collapsing.get_landed_column(found, ['_ab_cdc_lsn']) -%}
  {%- set read_at = versioned_collapsing.get_landed_column(found, ['_airbyte_extracted_at']) -%}
  {%- set has_text = '_ab_cdc_lsn' in found.spelling and versioned_collapsing.get_base_type(
      (found.columns | selectattr('name', 'equalto', found.spelling['_ab_cdc_lsn']) | first).type
  ) == 'String' -%}
  {%- if cursor -%}
    {%- do return('toInt128(ifNull(' ~ cursor ~ ', 0))') -%}
  {%- elif lsn and read_at and not has_text -%}
    {%- do return(
        'toInt128(toUnixTimestamp64Milli(toDateTime64(' ~ read_at ~ ", 3))) * toInt128('18446744073709551616') + "
        ~ 'toInt128(ifNull(' ~ lsn ~ ', 0))'
    ) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}

{% macro validate_airbyte_position(found, position) %}
  {%- if position is none -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        found.relation ~ " does not say in which order its source committed: it has no column _ab_cdc_cursor, and no "
        ~ "number _ab_cdc_lsn with _airbyte_extracted_at. " ~ (
            "_airbyte_data has the rows as JSON, as version 1 of the destination lands them: make a view that selects "
            ~ "their fields, and name the view." if '_airbyte_data' in found.spelling
            else "Pass version, such as version='updated_at'."
        )
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}
