{# While an apply runs, rows may land and merges may remove rows. If several statements must see the same rows, the
   select is read once into a staged table. This is necessary in three cases. The ledger must record how far a landing
   table was really read (`_watermark`). A truncate that is staged must also be carried out (`_is_truncate`). Signed
   rows must be checked before they are written. The rows of a `change_set` model do not change, so only the first case
   applies to them. Returns the select of the rows, the watermarks, and the staged tables to empty. #}
{% macro stage_landed_rows(target_relation, options, given, sql, manifest, apply) %}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set has_watermark = '_watermark' in names -%}
  {%- if not has_watermark
      and (manifest.exists or '_is_truncate' not in names and options.old_state != 'stream') -%}
    {%- do return({'sql': sql, 'watermarks': [], 'roles': []}) -%}
  {%- endif -%}
  {%- set landed = versioned_collapsing.get_helper_relation(target_relation, 'landed') -%}
  {%- do versioned_collapsing.prepare_staged_table(
      landed, versioned_collapsing.get_create_landed_sql(landed, given),
      dict(apply, staged=versioned_collapsing.read_staged_tables(target_relation))
  ) -%}
  {% call statement('stage_landed_rows') -%}
    {{ versioned_collapsing.get_stage_landed_sql(landed, given, sql, apply) }}
  {%- endcall %}
  {%- set watermarks = versioned_collapsing._read_watermarks(landed, given) if has_watermark else [] -%}
  {%- do return({'sql': 'select * from ' ~ landed, 'watermarks': watermarks, 'roles': ['landed']}) -%}
{% endmacro %}


{% macro _read_watermarks(landed, given) %}
  {%- set type = (given | selectattr('name', 'equalto', '_watermark') | first).type -%}
  {%- set has_landing = '_landing' in given | map(attribute='name') -%}
  {%- set watermarks = [] -%}
  {%- for row in run_query(versioned_collapsing.get_watermarks_sql(landed, type, has_landing)).rows -%}
    {%- do watermarks.append((row['_dbt_landing'], row['_dbt_uuid'], row['_dbt_watermark'])) -%}
  {%- endfor -%}
  {%- do return(watermarks) -%}
{% endmacro %}


{# A column with only nulls has the type Nothing, which no table can have. #}
{% macro get_create_landed_sql(landed, given) -%}
  create table {{ landed }} (
    {%- for column in given %}
    {%- set type = modules.re.sub("(?<!')\\bNothing\\b(?!')", 'UInt8', column.type) %}
    {{ versioned_collapsing.quote_name(column.name) }} {{ type }}{{ ',' if not loop.last }}
    {%- endfor %}
  )
  engine = MergeTree
  order by tuple()
{%- endmacro %}


{% macro get_stage_landed_sql(landed, given, sql, apply) -%}
  insert into {{ landed }} ({{ versioned_collapsing.quote_names(given | map(attribute='name')) }})
  select * from {{ versioned_collapsing.get_subquery_sql(sql) }}
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}


{# How far each landing table was read. A time is kept in UTC. #}
{% macro get_watermarks_sql(landed, type, has_landing) -%}
  {%- set base = versioned_collapsing.get_utc_type(versioned_collapsing.get_base_type(type)) -%}
  select
    {{ '_landing.1' if has_landing else "''" }} as _dbt_landing,
    toString({{ '_landing.2' if has_landing else "toUUID('00000000-0000-0000-0000-000000000000')" }}) as _dbt_uuid,
    toString(cast(assumeNotNull(max(_watermark)), {{ versioned_collapsing.quote_literal(base) }})) as _dbt_watermark
  from {{ landed }}
  where isNotNull(_watermark)
  group by _dbt_landing, _dbt_uuid
  order by _dbt_landing, _dbt_uuid
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
