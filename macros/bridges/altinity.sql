{# The change set in a table that Altinity's sink connector lands. Its versions are made from times, so they also serve
   as the watermark. The overlap is at least an hour, whether or not they come from GTIDs. #}
{% macro altinity_changes(
    landing, is_deleted=none, watermark='_version', overlap=15099494400000, through=none, toasted=[],
    unavailable_value='__debezium_unavailable_value'
) -%}
  {%- if not execute -%}{%- do return(versioned_collapsing.get_unread_landing_sql()) -%}{%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {#- The connector uses such a name if the source already has a column of its name. -#}
  {%- set names = ['__is_deleted', '_is_deleted', 'is_deleted', '_sign'] -%}
  {%- set mark = versioned_collapsing.get_landed_column(found, [is_deleted | lower] if is_deleted else names) -%}
  {%- set version = versioned_collapsing.get_landed_column(found, ['_version']) -%}
  {%- do versioned_collapsing.validate_landed_column(found, version, 'the version', ['_version'], none) -%}
  {%- do versioned_collapsing.validate_landed_column(found, mark, 'the deletes', names, 'is_deleted') -%}
  {%- set marked_column = mark | replace('"', '') | lower -%}
  {{ versioned_collapsing.landed_changes(
      landing,
      version,
      mark ~ ' = -1' if marked_column == '_sign' else 'toBool(' ~ mark ~ ')',
      watermark, overlap, through, ['_version', marked_column], toasted, unavailable_value
  ) }}
{%- endmacro %}
