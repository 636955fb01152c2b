{# A change set that says how far it has read a landing table (`_watermark`) is read once: rows land, and are merged
   away, while an apply runs, and each of its statements is to see the same ones. What the ledger is to say of each
   landing table is then what was read, and no more. Returns the select of these rows, and the watermarks. #}
{% macro stage_landed_rows(target_relation, given, sql, apply) %}
  {%- if '_watermark' not in given | map(attribute='name') -%}
    {%- do return({'sql': sql, 'watermarks': []}) -%}
  {%- endif -%}
  {%- set landed = versioned_collapsing.get_helper_relation(target_relation, 'landed') -%}
  {%- do versioned_collapsing.prepare_staged_table(
      landed, versioned_collapsing.get_create_landed_sql(landed, given),
      dict(apply, staged=versioned_collapsing.read_staged_tables(target_relation))
  ) -%}
  {% call statement('stage_landed_rows') -%}
    {{ versioned_collapsing.get_stage_landed_sql(landed, given, sql, apply) }}
  {%- endcall %}
  {%- set type = (given | selectattr('name', 'equalto', '_watermark') | first).type -%}
  {%- set has_landing = '_landing' in given | map(attribute='name') -%}
  {%- set watermarks = [] -%}
  {%- for row in run_query(versioned_collapsing.get_watermarks_sql(landed, type, has_landing)).rows -%}
    {%- do watermarks.append((row['_dbt_landing'], row['_dbt_uuid'], row['_dbt_watermark'])) -%}
  {%- endfor -%}
  {%- do return({'sql': 'select * from ' ~ landed, 'watermarks': watermarks}) -%}
{% endmacro %}


{% macro get_create_landed_sql(landed, given) -%}
  create table {{ landed }} (
    {%- for column in given %}
    {{ versioned_collapsing.quote_name(column.name) }} {{ column.type }}{{ ',' if not loop.last }}
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
