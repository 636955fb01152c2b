{# The ways that are measured. Each has its engine, how it is read, the condition of its live rows, its sign column
   (none if it has no signs), and the statements that write the changes. The way of this package has no statements: it
   runs a whole apply. #}
{% macro get_ways(sample, counts) %}
  {%- set trial = sample.database ~ '.trial' -%}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  {%- set inserted = ['insert into ' ~ trial ~ ' select * from ' ~ sample.database ~ '.changes'] -%}
  {%- set last = '(select * from ' ~ trial ~ ' order by ' ~ key ~ ', _dbt_engine_version desc limit 1 by ' ~ key ~ ')'
  -%}
  {%- do return([
      {
          'way': 'MergeTree, rows appended', 'kind': 'plain', 'engine': 'MergeTree', 'writes': inserted,
          'read': last, 'is_live': '_dbt_engine_is_deleted = 0', 'sign': none,
      },
      {
          'way': 'ReplacingMergeTree', 'kind': 'replacing',
          'engine': 'ReplacingMergeTree(_dbt_engine_version, _dbt_engine_is_deleted)', 'writes': inserted,
          'read': trial ~ ' final', 'is_live': 'true', 'sign': none,
      },
      {
          'way': 'lightweight update', 'kind': 'update', 'engine': 'MergeTree',
          'writes': versioned_collapsing.get_update_sqls(sample, counts), 'read': trial, 'is_live': 'true',
          'sign': none,
      },
      {
          'way': 'versioned_collapsing', 'kind': 'ours',
          'engine': 'VersionedCollapsingMergeTree(_dbt_engine_sign, _dbt_engine_version)', 'writes': [], 'read': trial,
          'is_live': 'true', 'sign': '_dbt_engine_sign',
      },
  ]) -%}
{% endmacro %}


{# A lightweight update changes only existing rows. It looks up the new values in another table. New and deleted rows
   need statements of their own. #}
{% macro get_update_sqls(sample, counts) %}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  {%- set trial = sample.database ~ '.trial' -%}
  {%- set changes = sample.database ~ '.changes' -%}
  {%- set values = [] -%}
  {%- for name in sample.columns | map(attribute='name') | reject('in', sample.key) -%}
    {%- set found = 'joinGet(' ~ versioned_collapsing.quote_literal(sample.schema ~ '.new_values') ~ ', '
        ~ versioned_collapsing.quote_literal(name) ~ ', ' ~ key ~ ')' -%}
    {%- do values.append(versioned_collapsing.quote_name(name) ~ ' = ' ~ found) -%}
  {%- endfor -%}
  {%- set of_kept = key ~ ' from ' ~ changes ~ ' where _dbt_engine_is_deleted = 0' -%}
  {%- set sqls = [] -%}
  {%- if counts.updates and values -%}
    {%- do sqls.extend([
        'create or replace table ' ~ sample.database ~ '.new_values engine = Join(any, left, ' ~ key ~ ') as select * '
        ~ 'except (_dbt_engine_version, _dbt_engine_is_deleted) from ' ~ changes ~ ' where _dbt_engine_is_deleted = 0',
        'update ' ~ trial ~ ' set ' ~ values | join(', ') ~ ' where (' ~ key ~ ') in (select ' ~ of_kept ~ ')',
    ]) -%}
  {%- endif -%}
  {%- if counts.inserts -%}
    {%- do sqls.append('insert into ' ~ trial ~ ' select * from ' ~ changes ~ ' where _dbt_engine_is_deleted = 0 and ('
        ~ key ~ ') not in (select ' ~ key ~ ' from ' ~ trial ~ ')') -%}
  {%- endif -%}
  {%- if counts.deletes -%}
    {%- do sqls.append('delete from ' ~ trial ~ ' where (' ~ key ~ ') in (select ' ~ key ~ ' from ' ~ changes
        ~ ' where _dbt_engine_is_deleted = 1)') -%}
  {%- endif -%}
  {%- do return(sqls) -%}
{% endmacro %}


{# The sums and the number of rows, by group. A view sums the inserted rows, a reader the whole table. #}
{% macro get_sums_by_group_sql(sample, source, condition, sign) -%}
  {%- set name = versioned_collapsing.quote_name(sample.summed.name) if sample.summed -%}
  {%- set value = '0' if not sample.summed else name if 'Decimal' in sample.summed.type
      else 'toInt128(' ~ name ~ ')' -%}
  {%- set group = "ifNull(toString(" ~ versioned_collapsing.quote_name(sample.group) ~ "), '')" if sample.group
      else "''" -%}
  select
    {{ group }} as _dbt_engine_group,
    sum(ifNull({{ value }}, 0){{ ' * ' ~ sign if sign }}) as _dbt_engine_total,
    toInt64({{ 'sum(' ~ sign ~ ')' if sign else 'count()' }}) as _dbt_engine_count
  from {{ source }}
  where {{ condition }}
  group by _dbt_engine_group
{%- endmacro %}


{# All sums as one value, so that nothing is measured but the sums. #}
{% macro get_sums_digest_sql(sums) -%}
  select
    hex(sipHash128(arraySort(groupArray(
      (_dbt_engine_group, toString(_dbt_engine_total), _dbt_engine_count)
    )))) as digest
  from ({{ sums }})
  where _dbt_engine_count <> 0
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
