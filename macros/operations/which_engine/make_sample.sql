{# Makes the tables of the sample: the rows before the changes, the changes of their keys, and one key to read. Returns
   their counts. #}
{% macro make_sample(sample) %}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  {%- set settings = versioned_collapsing.get_settings_sql() -%}
  {% call statement('make_sample') -%}
    create table {{ sample.database }}.sample engine = MergeTree order by ({{ key }})
    as {{ versioned_collapsing.get_sampled_sql(sample, sample.stored, 1, '0', none) }}
    {{ settings }}
  {%- endcall %}
  {%- set changes, stored = sample.database ~ '.changes', sample.database ~ '.sample' -%}
  {%- do run_query('create table ' ~ changes ~ ' as ' ~ stored) -%}
  {% call statement('make_changes') -%}
    insert into {{ sample.database }}.changes
    {{ versioned_collapsing.get_changes_of_sample_sql(sample) }}
    {{ settings }}
  {%- endcall %}
  {% call statement('make_one_key') -%}
    create table {{ sample.database }}.one_key engine = Memory
    as select {{ key }} from {{ sample.database }}.changes order by _dbt_engine_is_deleted limit 1
    {{ settings }}
  {%- endcall %}
  {%- do return(versioned_collapsing.read_sample_counts(sample)) -%}
{% endmacro %}


{% macro read_sample_counts(sample) %}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  {%- set query -%}
    select
      (select count() from {{ sample.database }}.sample) as stored,
      count() as changes,
      countIf(_dbt_engine_is_deleted = 0 and not _dbt_is_known) as inserts,
      countIf(_dbt_engine_is_deleted = 0 and _dbt_is_known) as updates,
      countIf(_dbt_engine_is_deleted = 1 and _dbt_is_known) as deletes
    from (
      select
        _dbt_engine_is_deleted,
        ({{ key }}) in (select {{ key }} from {{ sample.database }}.sample) as _dbt_is_known
      from {{ sample.database }}.changes
    )
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set counts = {} -%}
  {%- set row = run_query(query).rows[0] -%}
  {%- for name in row.keys() -%}
    {%- do counts.update({name: row[name] | int}) -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The rows of a select that have one of the sampled keys: one for each key, the last by `version`. #}
{% macro get_sampled_sql(sample, source, engine_version, is_deleted, version) -%}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  select
    {%- for column in sample.columns %}
    {%- set name = versioned_collapsing.quote_name(column.name) %}
    {{ 'assumeNotNull(' ~ name ~ ') as ' ~ name if column.name in sample.key else name }},
    {%- endfor %}
    toUInt64({{ engine_version }}) as _dbt_engine_version,
    toUInt8({{ is_deleted }}) as _dbt_engine_is_deleted
  from ({{ source }})
  where {% for name in sample.key -%}
    isNotNull({{ versioned_collapsing.quote_name(name) }}) and {% endfor -%}
    cityHash64({{ key }}) % {{ versioned_collapsing.get_share(sample) }} = 0
  order by {{ key }}{{ ', ' ~ versioned_collapsing.quote_name(version) ~ ' desc' if version }}
  limit 1 by {{ key }}
{%- endmacro %}


{# The n of one key in n that is in the sample. #}
{% macro get_share(sample) %}
  {%- do return([1, (sample.total / sample.rows) | round(0, 'ceil') | int] | max) -%}
{% endmacro %}


{# The given changes. If none are given: one row in a hundred, in which the summed column differs by one. #}
{% macro get_changes_of_sample_sql(sample) -%}
  {%- if sample.changes -%}
    {%- set is_deleted = 'ifNull(' ~ versioned_collapsing.quote_name(sample.is_deleted) ~ ', 0)' if sample.is_deleted
        else '0' -%}
    {{ versioned_collapsing.get_sampled_sql(
        sample, 'select * from ' ~ sample.changes, 2, is_deleted, sample.version
    ) }}
  {%- else -%}
    select * {%- if sample.summed %} replace (
      {%- set name = versioned_collapsing.quote_name(sample.summed.name) %}
      {{ name }} + if({{ name }} > 0, -1, 1) as {{ name }}, toUInt64(2) as _dbt_engine_version)
      {%- else %} replace (toUInt64(2) as _dbt_engine_version){% endif %}
    from {{ sample.database }}.sample
    where cityHash64({{ versioned_collapsing.quote_names(sample.key) }}, 1) % 100 = 0
  {%- endif -%}
{%- endmacro %}
