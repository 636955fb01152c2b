{# The sums of the sample after its changes, from the rows themselves. #}
{% macro read_true_sums(sample) %}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  {%- set rows -%}
    (
      select * from {{ sample.database }}.sample
      where ({{ key }}) not in (select {{ key }} from {{ sample.database }}.changes)
      union all
      select * from {{ sample.database }}.changes where _dbt_engine_is_deleted = 0
    )
  {%- endset -%}
  {%- set sums = versioned_collapsing.get_sums_by_group_sql(sample, rows, 'true', none) -%}
  {%- do return(run_query(versioned_collapsing.get_sums_digest_sql(sums)).rows[0]['digest']) -%}
{% endmacro %}


{# All columns of one key that has changed, as a reader would have them. #}
{% macro get_one_key_sql(way, sample) -%}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  {%- set of_key = '(' ~ key ~ ') in (select ' ~ key ~ ' from ' ~ sample.database ~ '.one_key)' -%}
  {%- set trial = sample.database ~ '.trial' -%}
  select sum(length(formatRow('TSV', *))) as n
  from (
    {%- if way.kind == 'plain' %}
    select * from {{ trial }} where {{ of_key }} order by _dbt_engine_version desc limit 1
    {%- else %}
    select * from {{ trial }}{{ ' final' if way.kind != 'update' }}
    where {{ of_key }}{{ ' and ' ~ way.sign ~ ' = 1' if way.sign }}
    {%- endif %}
  )
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
