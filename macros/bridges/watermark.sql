{# Where the applies of a model's table have got to in a landing table: the watermark as the ledger has it, none if the
   table is to be built, and the UUID that the landing table had. A watermark counts when its apply is `applied`. #}
{% macro read_watermark(landing_name, target_relation, model) %}
  {%- set nothing = {'text': none, 'uuid': none} -%}
  {%- if target_relation is none or should_full_refresh() -%}
    {%- do return(nothing) -%}
  {%- endif -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- set there = run_query(versioned_collapsing._get_has_watermarks_sql(ledger)).rows[0] -%}
  {%- if not there['_dbt_n'] | int -%}
    {%- do return(nothing) -%}
  {%- endif -%}
  {%- set found = run_query(
      versioned_collapsing._get_watermark_sql(ledger, landing_name, target_relation, model)
  ).rows[0] -%}
  {%- do return({'text': found['_dbt_watermark'], 'uuid': found['_dbt_uuid']} if found['_dbt_watermark'] else nothing)
  -%}
{% endmacro %}


{% macro _get_has_watermarks_sql(ledger) -%}
  select count() as _dbt_n
  from system.columns
  where {{ versioned_collapsing.get_is_table_sql(ledger, 'table') }}
    and name = 'watermarks'
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro _get_watermark_sql(ledger, landing_name, target_relation, model) -%}
  select
    argMax(_dbt_landed.watermark, at) as _dbt_watermark,
    toString(argMax(_dbt_landed.uuid, at)) as _dbt_uuid
  from {{ ledger }}
  array join watermarks as _dbt_landed
  where model = {{ versioned_collapsing.quote_literal(model.name) }}
    and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(target_relation) }}
    and status = 'applied'
    and _dbt_landed.landing = {{ versioned_collapsing.quote_literal(landing_name) }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# The condition for the rows to read: those at or above the last watermark, and those that may have landed late, which
   are as far below it as the overlap; up to `through`. A row without a watermark is always read. #}
{% macro get_range_sql(watermark, type, last, overlap, through) %}
  {%- set bounds = [] -%}
  {%- if last is not none -%}
    {%- do bounds.append(versioned_collapsing._get_bound_sql(
        watermark, '>=', versioned_collapsing._get_lower_bound_sql(type, last, overlap)
    )) -%}
  {%- endif -%}
  {%- if through is not none -%}
    {%- do bounds.append(versioned_collapsing._get_bound_sql(
        watermark, '<=', versioned_collapsing._get_watermark_literal_sql(type, through)
    )) -%}
  {%- endif -%}
  {%- do return(bounds | join(' and ') or 'true') -%}
{% endmacro %}


{% macro _get_bound_sql(watermark, comparison, bound) %}
  {%- do return('(isNull(' ~ watermark ~ ') or ' ~ watermark ~ ' ' ~ comparison ~ ' ' ~ bound ~ ')') -%}
{% endmacro %}


{% macro _get_lower_bound_sql(type, last, overlap) %}
  {%- if overlap is number -%}
    {%- do return(versioned_collapsing._get_watermark_literal_sql(type, [last | int - overlap, 0] | max)) -%}
  {%- endif -%}
  {%- do return(
      versioned_collapsing._get_watermark_literal_sql(type, last) ~ ' - '
      ~ versioned_collapsing.get_interval_sql(overlap)
  ) -%}
{% endmacro %}


{# The ledger has times in UTC. #}
{% macro _get_watermark_literal_sql(type, text) %}
  {%- set base = versioned_collapsing.get_utc_type(versioned_collapsing.get_base_type(type)) -%}
  {%- do return(
      'cast(' ~ versioned_collapsing.quote_literal(text | string) ~ ', ' ~ versioned_collapsing.quote_literal(base)
      ~ ')'
  ) -%}
{% endmacro %}
