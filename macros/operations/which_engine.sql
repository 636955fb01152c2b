{# Measures what several engines cost on a sample of a table and of its changes. Prints the figures, and says which
   engine to take. All tables are in a database of their own. The operation drops it at the end, or the next one does if
   this one dies. #}
{% macro which_engine(
    model, changes=none, unique_key=none, is_deleted=none, version=none, sums=none, group_by=none, views=none,
    reads=10, rows=1000000, trials=3
) %}
  {%- set node = versioned_collapsing.get_measured_node(model) -%}
  {%- set table = adapter.get_relation(node.database, node.schema, node.alias or node.identifier) -%}
  {%- do versioned_collapsing.validate_measured_table(node, table) -%}
  {%- do versioned_collapsing.validate_server(versioned_collapsing.read_server(table)) -%}
  {%- set sample = versioned_collapsing.read_sample(node, table, changes, {
      'unique_key': unique_key, 'is_deleted': is_deleted, 'version': version, 'sums': sums, 'group_by': group_by,
      'rows': rows, 'trials': trials, 'reads': reads,
  }) -%}
  {%- do log('which_engine: measures in the database ' ~ sample.database ~ ', which it drops in the end. If it is '
      ~ 'interrupted: drop database ' ~ sample.database, info=true) -%}
  {%- do run_query('drop database if exists ' ~ sample.database) -%}
  {%- do run_query('create database ' ~ sample.database) -%}
  {%- set counts = versioned_collapsing.make_sample(sample) -%}
  {%- set figures = [] -%}
  {%- if counts.stored and counts.changes -%}
    {%- for way in versioned_collapsing.get_ways(sample, counts) -%}
      {%- do figures.append(versioned_collapsing.measure_way(way, sample)) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do run_query('drop database ' ~ sample.database) -%}
  {%- do versioned_collapsing.validate_figures(sample, counts, figures) -%}
  {%- set is_followed = versioned_collapsing.read_is_followed(node, table) if views is none else views -%}
  {%- do versioned_collapsing.log_figures(sample, counts, figures, is_followed) -%}
{% endmacro %}


{# The node of a table that changes: a model, seed, snapshot or source, by its name or unique_id. #}
{% macro get_measured_node(name) %}
  {%- set nodes = graph.nodes.values() | selectattr('resource_type', 'in', ('model', 'seed', 'snapshot')) | list -%}
  {%- set nodes = nodes + (graph.sources.values() | list) -%}
  {%- set found = versioned_collapsing.get_nodes_named(name, nodes) -%}
  {%- do versioned_collapsing.validate_one_node('which_engine', name, found) -%}
  {%- do versioned_collapsing.validate_measured_node(name, found, nodes) -%}
  {%- do return(found[0]) -%}
{% endmacro %}


{% macro validate_measured_node(name, found, nodes) %}
  {%- if not found -%}
    {%- set near = versioned_collapsing.get_near_name(name, nodes | map(attribute='name') | list) -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: the project has no model, seed, snapshot or source '" ~ name ~ "'."
        ~ (" Do you mean '" ~ near ~ "'?" if near else '')
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_measured_table(node, table) %}
  {%- if node.database == 'spark' -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: " ~ node.name ~ " is a table of Spark's. Name one of ClickHouse's."
    ) -%}
  {%- elif table is none -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: " ~ node.name ~ " has no table yet. Build it first, or name a source that has one."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# What is sampled: the select of the live rows, the key, the columns, the column to sum, and the column to group by. #}
{% macro read_sample(node, table, changes, given) %}
  {%- set stored = versioned_collapsing.read_live_source(table) -%}
  {%- set config = node.config or {} -%}
  {%- set columns = versioned_collapsing.read_query_columns(stored) -%}
  {%- set key = versioned_collapsing.as_list(given.unique_key) or versioned_collapsing.get_unique_key(config) -%}
  {%- set relation = versioned_collapsing.get_truth_relation('which_engine', changes) if changes else none -%}
  {%- set changed = versioned_collapsing.read_query_columns('select * from ' ~ relation) | map(attribute='name') | list
      if relation else [] -%}
  {%- set own = {
      'is_deleted': versioned_collapsing.get_option(config, 'is_deleted', '_is_deleted'),
      'version': versioned_collapsing.get_option(config, 'version', '_version'),
  } -%}
  {%- set sample = {
      'table': table | string,
      'database': versioned_collapsing.quote_name(table.schema ~ '__which_engine_' ~ table.identifier),
      'schema': table.schema ~ '__which_engine_' ~ table.identifier,
      'stored': stored,
      'changes': relation,
      'key': key,
      'columns': columns,
      'is_deleted': given.is_deleted or (own.is_deleted if own.is_deleted in changed else none),
      'version': given.version or (own.version if own.version in changed else none),
      'rows': given.rows,
      'trials': given.trials,
      'reads': given.reads,
  } -%}
  {%- do versioned_collapsing.validate_sample(node, sample, given, changed) -%}
  {%- set others = columns | rejectattr('name', 'in', key + [own.version]) | list -%}
  {%- set summed = versioned_collapsing.get_summed_columns(others, given.sums) -%}
  {%- do return(dict(
      sample,
      total=versioned_collapsing.read_row_count('(' ~ stored ~ ')', 'true') | int,
      summed=summed[0] if summed else none,
      group=given.group_by or versioned_collapsing.read_group(stored, others)
  )) -%}
{% endmacro %}


{# The select of the live rows of a table, whatever its engine. #}
{% macro read_live_source(table) %}
  {%- set query -%}
    select engine, engine_full
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(table) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if 'CollapsingMergeTree' in found['engine'] -%}
    {%- set arguments = found['engine_full'].split('CollapsingMergeTree(')[1].split(')')[0].split(',') -%}
    {%- set sign = arguments[-2 if 'Versioned' in found['engine'] else -1].strip(' `') -%}
    {%- set sign = versioned_collapsing.quote_name(sign) -%}
    {%- do return('select * except (' ~ sign ~ ') from ' ~ table ~ ' final where ' ~ sign ~ ' = 1') -%}
  {%- endif -%}
  {%- do return('select * from ' ~ table ~ (' final' if 'ReplacingMergeTree' in found['engine'] else '')) -%}
{% endmacro %}


{# Checks all columns and numbers that the arguments name, before anything is made. #}
{% macro validate_sample(node, sample, given, changed) %}
  {%- set names = sample.columns | map(attribute='name') | list -%}
  {%- set problems = [] -%}
  {%- if not sample.key -%}
    {%- do problems.append("the key is not known: the model has no unique_key. Add it: unique_key: [order_id]") -%}
  {%- endif -%}
  {%- for name in sample.key + versioned_collapsing.as_list(given.sums)
      + versioned_collapsing.as_list(given.group_by) if name not in names -%}
    {%- do problems.append(node.name ~ " has no column " ~ name ~ ". It has " ~ names | join(', ')) -%}
  {%- endfor -%}
  {%- if sample.changes -%}
    {%- set wanted = names + versioned_collapsing.as_list(given.is_deleted)
        + versioned_collapsing.as_list(given.version) -%}
    {%- for name in wanted | unique if name not in changed -%}
      {%- do problems.append("the changes have no column " ~ name ~ ". They have " ~ changed | join(', ')) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- for name in ('rows', 'trials', 'reads') if given[name] is not integer or given[name] < 1 -%}
    {%- do problems.append(name ~ " is " ~ given[name] ~ ". Give a whole number above 0") -%}
  {%- endfor -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error("which_engine:\n  - " ~ problems | join("\n  - ")) -%}
  {%- endif -%}
{% endmacro %}


{# Columns that can be summed without rounding: the one that is asked for, or all. #}
{% macro get_summed_columns(columns, name) %}
  {%- set found = [] -%}
  {%- for column in columns if column.name == name or (not name
      and modules.re.match('(Nullable\\()?(Decimal|U?Int\\d+\\b)', column.type)) -%}
    {%- do found.append(column) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}


{# The first text column with more than one and at most 1000 values, to group by; none if there is no such column. #}
{% macro read_group(stored, columns) %}
  {%- set texts = [] -%}
  {%- for column in columns if modules.re.match('(LowCardinality\\()?(Nullable\\()?(String|Enum)', column.type) -%}
    {%- do texts.append(column.name) -%}
  {%- endfor -%}
  {%- if not texts -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set query -%}
    select {% for name in texts %}uniqCombined({{ versioned_collapsing.quote_name(name) }}) as n{{ loop.index }}
      {{- ', ' if not loop.last }}{% endfor %}
    from (select * from ({{ stored }}) limit 100000)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for name, number in zip(texts, run_query(query).rows[0].values()) if 1 < number | int <= 1000 -%}
    {%- do return(name) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


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


{# Makes sure that the tombstones and the ledger of the table exist. #}
{% macro prepare_measured_apply(sample) %}
  {%- set parts = versioned_collapsing.read_measured_parts(sample) -%}
  {%- do versioned_collapsing.prepare_ledger(parts.relation) -%}
  {%- do versioned_collapsing.prepare_tombstones(parts.relation, parts.options, parts.columns, none) -%}
{% endmacro %}


{% macro read_measured_parts(sample) %}
  {%- set model = versioned_collapsing.get_measured_model(sample) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(model.config, model) -%}
  {%- set sql = 'select * from ' ~ sample.database ~ '.changes' -%}
  {%- set given = versioned_collapsing.read_query_columns(sql) -%}
  {%- do return({
      'relation': api.Relation.create(schema=sample.schema, identifier='trial', type='table'),
      'options': options,
      'columns': versioned_collapsing.get_versioned_collapsing_columns(options, given, {}),
      'sql': sql,
  }) -%}
{% endmacro %}


{# The model that this package would apply the changes to. #}
{% macro get_measured_model(sample) %}
  {%- do return({
      'unique_id': 'model.versioned_collapsing.which_engine',
      'name': 'which_engine',
      'resource_type': 'model',
      'package_name': 'versioned_collapsing',
      'database': '',
      'schema': sample.schema,
      'alias': 'trial',
      'columns': {},
      'depends_on': {'nodes': [], 'macros': []},
      'unrendered_config': {},
      'config': {
          'materialized': 'versioned_collapsing', 'unique_key': sample.key, 'version': '_dbt_engine_version',
          'sign': '_dbt_engine_sign', 'is_deleted': '_dbt_engine_is_deleted',
      },
  }) -%}
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


{# All that an apply does, from the lock to the ledger. #}
{% macro apply_measured_changes(sample) %}
  {%- set parts = versioned_collapsing.read_measured_parts(sample) -%}
  {%- set model = versioned_collapsing.get_measured_model(sample) -%}
  {%- set apply = versioned_collapsing.start_apply(model, parts.relation, {}, parts.options) -%}
  {%- do versioned_collapsing.acquire_lock(parts.relation, apply) -%}
  {%- set ledger = versioned_collapsing.read_ledger(parts.relation, model) -%}
  {%- set apply = dict(apply, number=ledger.number + 1) -%}
  {%- set truncate = versioned_collapsing.read_truncate(parts.options, parts.columns, parts.sql, ledger, apply) -%}
  {%- do versioned_collapsing.apply_change_set(
      parts.relation, parts.options, parts.columns, parts.sql, truncate, apply
  ) -%}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
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


{% macro get_median(values) %}
  {%- do return((values | sort)[values | length // 2]) -%}
{% endmacro %}


{# If the ways do not end with the same rows, their times mean nothing. #}
{% macro validate_figures(sample, counts, figures) %}
  {%- if not counts.stored or not counts.changes -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: the sample has " ~ versioned_collapsing.format_count(counts.stored, 'row') ~ " and "
        ~ versioned_collapsing.format_count(counts.changes, 'change') ~ ". It needs some of both. Give more rows, or "
        ~ "changes whose keys are not null."
    ) -%}
  {%- endif -%}
  {%- set wrong = figures | rejectattr('is_right') | map(attribute='way') | list -%}
  {%- if wrong -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: not all ways came to the sums of the changed sample, which is an error of which_engine or of "
        ~ "ClickHouse, so that their seconds say nothing: " ~ wrong | join(', ')
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Whether views follow the table: models of dbt, or what ClickHouse knows of. #}
{% macro read_is_followed(node, table) %}
  {%- set is_table = versioned_collapsing.get_is_table_sql(table) -%}
  {%- do return(
      versioned_collapsing.get_followers(node) | length > 0
      or versioned_collapsing.read_row_count('system.tables', is_table ~ ' and notEmpty(dependencies_table)') | int > 0
  ) -%}
{% endmacro %}


{# Prints the figures, and which way to take. #}
{% macro log_figures(sample, counts, figures, is_followed) %}
  {%- set shown = [] -%}
  {%- for row in figures -%}
    {%- do shown.append({
        'way': row.way,
        'write': '%.3f' % row.write,
        'write with a view': '%.3f' % row.with_view,
        'read one key': '%.3f' % row.key,
        'read sums': '%.3f' % row.sums,
        'a view of sums is right': 'yes' if row.is_view_right else 'no',
    }) -%}
  {%- endfor -%}
  {%- set summed = sample.summed.name if sample.summed else 'the number of rows' -%}
  {%- do log(
      sample.table ~ ': ' ~ versioned_collapsing.format_count(counts.stored, 'row') ~ ' of ' ~ sample.total ~ ', and '
      ~ versioned_collapsing.format_count(counts.changes, 'change') ~ ' (' ~ counts.inserts ~ ' new, ' ~ counts.updates
      ~ ' updated, ' ~ counts.deletes ~ ' deleted)'
      ~ ('' if sample.changes else ', made up: give your own as changes')
      ~ '. Sums of ' ~ summed ~ (' by ' ~ sample.group if sample.group else '') ~ '. Seconds, medians of '
      ~ sample.trials ~ ':', info=true
  ) -%}
  {%- do versioned_collapsing.log_table({'column_names': shown[0].keys() | list, 'rows': shown}) -%}
  {%- for line in versioned_collapsing.get_advice(sample, counts, figures, is_followed) -%}
    {%- do log(line, info=true) -%}
  {%- endfor -%}
{% endmacro %}


{# Which way to take, and why. It first looks at how much of the table changes, and whether views follow it. Then it
   compares the time of a write and of the reads of sums after it. #}
{% macro get_advice(sample, counts, figures, is_followed) %}
  {%- set by_kind = {} -%}
  {%- for row in figures -%}{%- do by_kind.update({row.kind: row}) -%}{%- endfor -%}
  {%- set is_new = counts.updates + counts.deletes == 0 -%}
  {%- if is_new -%}
    {%- do return(['Take MergeTree: no change is of a row that is there. Nothing needs to be replaced.']) -%}
  {%- elif is_followed -%}
    {%- do return(['Take versioned_collapsing: views follow the table, and views of the other ways go wrong ('
        ~ versioned_collapsing._get_list_of_wrong_views(figures) ~ '). If the views may lag behind, ReplacingMergeTree '
        ~ 'with a refreshable view that reads it with FINAL is simpler.']) -%}
  {%- elif (counts.updates + counts.deletes) * 2 > counts.stored -%}
    {%- do return(['Take a copy (materialized: table, or incremental with the default strategy): more than half of the '
        ~ 'rows change at a time. If they do not change in each run, give changes of one run.']) -%}
  {%- endif -%}
  {%- set totals = [] -%}
  {%- for row in figures if row.kind != 'plain' -%}
    {%- do totals.append({'kind': row.kind, 'way': row.way, 'seconds': row.write + sample.reads * row.sums}) -%}
  {%- endfor -%}
  {%- set best = (totals | sort(attribute='seconds'))[0] -%}
  {%- set lines = [] -%}
  {%- for total in totals | sort(attribute='seconds') -%}
    {%- do lines.append(total.way ~ ' ' ~ '%.3f' % total.seconds) -%}
  {%- endfor -%}
  {%- do return([
      'Take ' ~ best.way ~ ': nothing follows the table, and a write with ' ~ sample.reads ~ ' reads of sums takes the '
      ~ 'fewest seconds (' ~ lines | join(', ') ~ ').' ~ versioned_collapsing._get_limits(best.kind),
      versioned_collapsing._get_turning_point(by_kind.replacing, by_kind.ours),
      'As soon as a materialized view or a projection sums the table, take versioned_collapsing.',
  ]) -%}
{% endmacro %}


{% macro _get_list_of_wrong_views(figures) %}
  {%- do return(figures | rejectattr('is_view_right') | map(attribute='way') | join(', ')) -%}
{% endmacro %}


{# What a way requires of those who take it. #}
{% macro _get_limits(kind) %}
  {%- do return({
      'replacing': ' Every reader needs FINAL, and the version must not be in ORDER BY.',
      'update': ' Updates, inserts and deletes are statements of their own, so that readers see one before the other, '
          ~ 'and each leaves work to later reads and merges.',
      'ours': ' Every reader multiplies by the sign, or reads with FINAL.',
  }[kind]) -%}
{% endmacro %}


{# From how many reads of sums for each write the sums by sign are worth the look-up of that write. #}
{% macro _get_turning_point(replacing, ours) %}
  {%- if ours.sums >= replacing.sums -%}
    {%- do return('Sums by sign take no less than sums with FINAL on this sample: versioned_collapsing pays only for '
        ~ 'views.') -%}
  {%- endif -%}
  {%- set reads = ((ours.write - replacing.write) / (replacing.sums - ours.sums)) | round(0, 'ceil') | int -%}
  {%- do return('versioned_collapsing takes less than ReplacingMergeTree from ' ~ [reads, 1] | max
      ~ ' reads of sums for each write.') -%}
{% endmacro %}
