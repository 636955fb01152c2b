{# Measures one way: its write with and without a view on the table, the read of one key and of the sums, and whether
   the view is right. #}
{% macro measure_way(way, sample) %}
  {%- do versioned_collapsing.make_base(way, sample) -%}
  {%- set seconds = {'write': [], 'key': [], 'sums': []} -%}
  {%- for _ in range(sample.trials) -%}
    {%- do versioned_collapsing.make_trial(way, sample) -%}
    {%- do seconds.write.append(versioned_collapsing.write_changes(way, sample)) -%}
  {%- endfor -%}
  {%- set one_key = versioned_collapsing.get_one_key_sql(way, sample) -%}
  {%- set sums = versioned_collapsing.get_sums_digest_sql(
      versioned_collapsing.get_sums_by_group_sql(sample, way.read, way.is_live, way.sign)
  ) -%}
  {%- for _ in range(sample.trials) -%}
    {%- do seconds.key.append(versioned_collapsing.time_statements([one_key])) -%}
    {%- do seconds.sums.append(versioned_collapsing.time_statements([sums])) -%}
  {%- endfor -%}
  {%- set truth = versioned_collapsing.read_true_sums(sample) -%}
  {%- set is_right = run_query(sums).rows[0]['digest'] == truth -%}
  {%- do versioned_collapsing.make_trial(way, sample) -%}
  {%- do versioned_collapsing.make_view(way, sample) -%}
  {%- set with_view = versioned_collapsing.write_changes(way, sample) -%}
  {%- set seen = run_query(versioned_collapsing.get_sums_digest_sql(
      'select _dbt_engine_group, sum(_dbt_engine_total) as _dbt_engine_total, '
      ~ 'sum(_dbt_engine_count) as _dbt_engine_count from (select * from ' ~ sample.database ~ '.sums) '
      ~ 'group by _dbt_engine_group'
  )).rows[0]['digest'] -%}
  {%- do run_query('drop table ' ~ sample.database ~ '.view') -%}
  {%- do return({
      'way': way.way,
      'kind': way.kind,
      'write': versioned_collapsing.get_median(seconds.write),
      'with_view': with_view,
      'key': versioned_collapsing.get_median(seconds.key),
      'sums': versioned_collapsing.get_median(seconds.sums),
      'is_view_right': seen == truth,
      'is_right': is_right,
  }) -%}
{% endmacro %}


{# Makes the table of the rows before the changes, with the engine of the way, and merges it. #}
{% macro make_base(way, sample) %}
  {%- set key = versioned_collapsing.quote_names(sample.key) -%}
  {%- set base = sample.database ~ '.base' -%}
  {% call statement('make_base') -%}
    create or replace table {{ base }} engine = {{ way.engine }} order by ({{ key }})
    settings enable_block_number_column = 1, enable_block_offset_column = 1
    as select * {{ 'except (_dbt_engine_is_deleted), toInt8(1) as _dbt_engine_sign' if way.sign }}
    from {{ sample.database }}.sample
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {%- do run_query('optimize table ' ~ base ~ ' final') -%}
{% endmacro %}


{# Makes a table to write to that shares its parts with the base. #}
{% macro make_trial(way, sample) %}
  {%- set trial = sample.database ~ '.trial' -%}
  {%- do run_query('drop table if exists ' ~ trial ~ ', ' ~ sample.database ~ '.trial__tombstones') -%}
  {%- set base = sample.database ~ '.base' -%}
  {%- do run_query('create table ' ~ trial ~ ' as ' ~ base) -%}
  {%- do run_query('alter table ' ~ trial ~ ' attach partition all from ' ~ base) -%}
  {%- if way.kind == 'ours' -%}
    {%- do versioned_collapsing.prepare_measured_apply(sample) -%}
  {%- endif -%}
{% endmacro %}


{# Makes a materialized view of the sums, which begins with the sums of the base. #}
{% macro make_view(way, sample) %}
  {%- set condition = 'true' if way.sign else '_dbt_engine_is_deleted = 0' -%}
  {%- set sums = sample.database ~ '.sums' -%}
  {%- set trial = sample.database ~ '.trial' -%}
  {%- set select = versioned_collapsing.get_sums_by_group_sql(sample, trial, condition, way.sign) -%}
  {%- set view = sample.database ~ '.view' -%}
  {%- do run_query('create or replace table ' ~ sums ~ ' engine = SummingMergeTree order by _dbt_engine_group as '
      ~ select ~ ' ' ~ versioned_collapsing.get_settings_sql()) -%}
  {%- do run_query('create materialized view ' ~ view ~ ' to ' ~ sums ~ ' as ' ~ select) -%}
{% endmacro %}


{# Writes the changes. Returns the seconds. #}
{% macro write_changes(way, sample) %}
  {%- if way.kind != 'ours' -%}
    {%- do return(versioned_collapsing.time_statements(way.writes)) -%}
  {%- endif -%}
  {%- set begun = modules.datetime.datetime.now() -%}
  {%- do versioned_collapsing.apply_measured_changes(sample) -%}
  {%- do return((modules.datetime.datetime.now() - begun).total_seconds()) -%}
{% endmacro %}


{% macro time_statements(sqls) %}
  {%- set begun = modules.datetime.datetime.now() -%}
  {%- for sql in sqls -%}
    {%- do run_query(sql) -%}
  {%- endfor -%}
  {%- do return((modules.datetime.datetime.now() - begun).total_seconds()) -%}
{% endmacro %}


{% macro get_median(values) %}
  {%- do return((values | sort)[values | length // 2]) -%}
{% endmacro %}
