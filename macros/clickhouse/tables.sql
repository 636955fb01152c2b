{# The columns of a query as ClickHouse describes them, each type on one line. dbt-clickhouse cannot be asked, because
   it calls every FixedString a String. #}
{% macro read_query_columns(sql) %}
  {%- set query = 'describe table ' ~ versioned_collapsing.get_subquery_sql(sql) ~ ' '
      ~ versioned_collapsing.get_settings_sql(none, {'print_pretty_type_names': 0}) -%}
  {%- set columns = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do columns.append({'name': row['name'], 'type': row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}

{# The columns of a table, selected by the kind of their default. By default, these are the columns into which rows can
   be inserted. #}
{% macro read_table_columns(relation, kinds=('', 'DEFAULT')) %}
  {%- set query = 'select ' ~ versioned_collapsing.get_table_columns_sql(relation, kinds) ~ ' as columns '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- set columns = [] -%}
  {%- for name, type in fromjson(run_query(query).rows[0]['columns']) -%}
    {%- do columns.append({'name': name, 'type': type}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}

{# The same as one JSON value: pairs of name and type. #}
{% macro get_table_columns_sql(relation, kinds=('', 'DEFAULT')) -%}
  (
    select toJSONString(arrayMap(
      _dbt_each -> [_dbt_each.2, _dbt_each.3], arraySort(groupArray((position, name, type)))
    ))
    from system.columns
    where {{ versioned_collapsing.get_is_table_sql(relation, 'table') }}
      and default_kind in ({{ versioned_collapsing.quote_literals(kinds) }})
  )
{%- endmacro %}

{# The problem with columns that have the name of a virtual column; none if there are no such columns. #}
{% macro get_virtual_column_problems(names, what) %}
  {%- set taken = names | select('in', versioned_collapsing.get_virtual_columns()) | list -%}
  {%- do return([
      "columns: " ~ what ~ " has " ~ taken | join(', ') ~ ", which ClickHouse itself adds to every table. Rename "
      ~ ("the column" if taken | length == 1 else "the columns") ~ " in the select."
  ] if taken else []) -%}
{% endmacro %}

{# The columns that ClickHouse itself adds to every table of the MergeTree family, such as `_part`. A stored column of
   the same name hides one of them, so that statements that mean ClickHouse's column would read the user's.
   `describe table … settings describe_include_virtual_columns = 1` lists them. #}
{% macro get_virtual_columns() %}
  {%- do return([
      '_part', '_part_index', '_part_starting_offset', '_part_uuid', '_partition_id', '_partition_value',
      '_sample_factor', '_part_offset', '_part_granule_offset', '_part_data_version', '_disk_name', '_distance',
      '_table', '_database', '_row_exists', '_block_number', '_block_offset',
  ]) -%}
{% endmacro %}

{# Stops a query that needs virtual columns of a table: it would read a user's column of the same name instead. #}
{% macro validate_no_virtual_columns(relation, names) %}
  {%- set taken = names | select('in', versioned_collapsing.get_virtual_columns()) | list -%}
  {%- if taken -%}
    {%- do exceptions.raise_compiler_error(
        relation ~ " has " ~ taken | join(', ') ~ ", which hides the column that ClickHouse itself adds to every "
        ~ "table. Rename it: alter table " ~ relation ~ " rename column " ~ adapter.quote(taken[0])
        ~ " to another name."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Lists of expressions in ClickHouse's own spelling, without outer parentheses. #}
{% macro read_formatted_expressions(texts) %}
  {%- set query = 'select ' ~ versioned_collapsing.get_formatted_sql(texts) ~ ' as _dbt_formatted '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- do return(versioned_collapsing.get_formatted(run_query(query).rows[0]['_dbt_formatted'])) -%}
{% endmacro %}

{# The same as one JSON value. get_formatted turns it into what read_formatted_expressions returns. #}
{% macro get_formatted_sql(texts) %}
  {%- set formatted = [] -%}
  {%- for text in texts -%}
    {%- set query = versioned_collapsing.quote_literal('select ' ~ text) -%}
    {%- do formatted.append('formatQuerySingleLine(' ~ query ~ ')' if text else "'SELECT '") -%}
  {%- endfor -%}
  {%- do return('toJSONString([' ~ formatted | join(', ') ~ '])') -%}
{% endmacro %}

{% macro get_formatted(json) %}
  {%- set expressions = [] -%}
  {%- for text in fromjson(json) -%}
    {%- do expressions.append(versioned_collapsing.strip_parentheses(text['SELECT ' | length :])) -%}
  {%- endfor -%}
  {%- do return(expressions) -%}
{% endmacro %}

{# What system.tables says about some tables of one database, by identifier. Tables that do not exist are left out. #}
{% macro read_tables(relations) %}
  {%- set query = 'select ' ~ versioned_collapsing.get_tables_sql(relations) ~ ' as tables '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- do return(versioned_collapsing.get_tables(run_query(query).rows[0]['tables'])) -%}
{% endmacro %}

{# The same as one JSON value, so that a statement can read it together with other facts, and for tables whose names
   begin with a prefix, too. get_tables turns it into what read_tables returns. #}
{% macro get_tables_sql(relations, prefix=none) -%}
  {%- set names = versioned_collapsing.quote_literals(relations | map(attribute='identifier')) -%}
  (
    select toJSONString(arraySort(groupArray([
      name, engine, engine_full, sorting_key, partition_key, toString(uuid), comment, create_table_query,
      toString(ifNull(total_rows, 1))
    ])))
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(relations[0].schema) }}
      and (name in ({{ names }})
        {%- if prefix %} or startsWith(name, {{ versioned_collapsing.quote_literal(prefix) }}){% endif %})
  )
{%- endmacro %}

{% macro get_tables(json) %}
  {%- set names = [
      'name', 'engine', 'engine_full', 'sorting_key', 'partition_key', 'uuid', 'comment', 'create_table_query',
      'row_count',
  ] -%}
  {%- set tables = {} -%}
  {%- for values in fromjson(json) -%}
    {%- do tables.update({values[0]: dict(zip(names, values))}) -%}
  {%- endfor -%}
  {%- do return(tables) -%}
{% endmacro %}

{# The number of rows that satisfy a condition. #}
{% macro read_row_count(relation, condition='true', settings={}) %}
  {%- set query -%}
    select count() as _dbt_n from {{ relation }} where {{ condition }}
    {{ versioned_collapsing.get_settings_sql(more=settings) }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['_dbt_n'] | int) -%}
{% endmacro %}

{# Types in ClickHouse's own spelling, by the spelling that they have in the project: `BIGINT` is Int64. `columns` have
   a name and a data_type. Each type has a select of its own, without settings: ClickHouse's error quotes the select, so
   it names the column and is short. #}
{% macro read_canonical_types(columns) %}
  {%- set canonical = {} -%}
  {%- for some in columns | unique(case_sensitive=true, attribute='data_type') | batch(500) -%}
    {%- set selects = [] -%}
    {%- for column in some -%}
      {%- set type = versioned_collapsing.quote_literal(column.data_type) -%}
      {%- do selects.append(
          'select ' ~ loop.index0 ~ ' as place, toTypeName(defaultValueOfTypeName(' ~ type ~ ')) as '
          ~ versioned_collapsing.quote_name('data_type of ' ~ column.name)
      ) -%}
    {%- endfor -%}
    {%- set query = 'select * from (' ~ selects | join(' union all ') ~ ') ' ~ versioned_collapsing.get_settings_sql(
        none, {'print_pretty_type_names': 0}) -%}
    {%- for row in run_query(query).rows -%}
      {%- do canonical.update({some[row[0] | int].data_type: row[1]}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(canonical) -%}
{% endmacro %}

{# The name that the table has when the run is over: a rebuilt table takes the place of the old one. #}
{% macro get_final_name(target_relation) %}
  {%- do return(target_relation | string | replace('__dbt_build`', '`')) -%}
{% endmacro %}

{# A helper relation of the target: staged data, a table being built. #}
{% macro get_helper_relation(target_relation, role) %}
  {%- do return(
      target_relation.incorporate(path={'identifier': target_relation.identifier ~ '__dbt_' ~ role}, type='table')
  ) -%}
{% endmacro %}

{# The ledger. It has one row when an apply begins to write, one for each chunk or block that is done, and one when the
   apply has ended. #}
{% macro get_ledger_relation(target_relation) %}
  {%- do return(target_relation.incorporate(path={'identifier': 'versioned_collapsing_ledger'}, type='table')) -%}
{% endmacro %}

{# What `reconcile` has found: one row for each key range of a cycle when it is planned, and one when it is verified. #}
{% macro get_verifications_relation(target_relation) %}
  {%- do return(target_relation.incorporate(
      path={'identifier': 'versioned_collapsing_verifications'}, type='table'
  )) -%}
{% endmacro %}

{# The remembered deletes of a target: keys, each with the highest version at which it was deleted. #}
{% macro get_tombstones_relation(target_relation) %}
  {%- do return(
      target_relation.incorporate(path={'identifier': target_relation.identifier ~ '__tombstones'}, type='table')
  ) -%}
{% endmacro %}

{# The hashes of the keys that `forget` has removed from a target. A full refresh keeps them. #}
{% macro get_forgotten_relation(target_relation) %}
  {%- set name = target_relation.identifier.removesuffix('__dbt_build') -%}
  {%- do return(target_relation.incorporate(path={'identifier': name ~ '__forgotten'}, type='table')) -%}
{% endmacro %}

{# The change feed of a target: the signed rows of each apply. #}
{% macro get_feed_relation(target_relation) %}
  {%- do return(
      target_relation.incorporate(path={'identifier': target_relation.identifier ~ '__feed'}, type='table')
  ) -%}
{% endmacro %}

{# The manifest beside a change set: the batches that it holds. #}
{% macro get_change_set_manifest_relation(change_set) %}
  {%- do return(change_set.incorporate(path={'identifier': change_set.identifier ~ '__manifest'}, type='table')) -%}
{% endmacro %}

{# The arguments of a table's engine, as system.tables writes them. Sign and version are the last ones: a replicated
   engine has others before them. #}
{% macro get_engine_arguments(engine_full) %}
  {%- set argument = '`(?:[^`\\\\]|\\\\.)*`|\'(?:[^\'\\\\]|\\\\.)*\'|[^()`\']' -%}
  {%- set engine = modules.re.findall('^\\w+\\((?:' ~ argument ~ ')*\\)', engine_full) | first -%}
  {%- do return(versioned_collapsing.get_type_arguments(engine) if engine else []) -%}
{% endmacro %}

{# The engine of a table that must be on each replica. Its path in Keeper is the server's default. #}
{% macro get_engine_name(relation, name) %}
  {%- set is_named = name.startswith(('Replicated', 'Shared')) -%}
  {%- set is_wanted = not is_named and versioned_collapsing.get_replication(relation) == 'Replicated' -%}
  {%- do return(('Replicated' if is_wanted else '') ~ name) -%}
{% endmacro %}

{# How a table is replicated: 'Replicated' on a cluster, or in a database with this engine; 'Shared' in ClickHouse
   Cloud, where the server itself chooses the engine; '' on a single server. #}
{% macro get_replication(relation) %}
  {%- if on_cluster_clause(relation) | trim -%}{%- do return('Replicated') -%}{%- endif -%}
  {%- set engine = (target.get('database_engine') or '').split('(')[0] | trim -%}
  {%- do return(engine if engine in ('Replicated', 'Shared') else '') -%}
{% endmacro %}

{% macro drop_tables(relations) %}
  {%- do run_query('drop table if exists ' ~ relations | join(', ') ~ ' ' ~ on_cluster_clause(relations[0]) | trim) -%}
{% endmacro %}

{% macro comment_table(relation, comment) %}
  {%- do versioned_collapsing.alter_table(
      relation, 'modify comment ' ~ versioned_collapsing.quote_literal(comment)
  ) -%}
{% endmacro %}

{% macro alter_table(relation, change, settings='') %}
  {%- do run_query('alter table ' ~ relation ~ ' ' ~ on_cluster_clause(relation) ~ ' ' ~ change ~ ' ' ~ settings) -%}
{% endmacro %}

{% macro rename_table(relation, new, if_exists='') %}
  {%- do run_query(
      'rename table ' ~ if_exists ~ ' ' ~ relation ~ ' to ' ~ new ~ ' ' ~ on_cluster_clause(relation) | trim
  ) -%}
{% endmacro %}

{# Puts a table in the place of another one on all replicas, once each replica has all rows of the new table. #}
{% macro exchange_with(relation, other) %}
  {%- set on_cluster = on_cluster_clause(other) | trim -%}
  {%- if on_cluster -%}
    {%- do run_query('system sync replica ' ~ on_cluster ~ ' ' ~ relation) -%}
  {%- endif -%}
  {%- do run_query('exchange tables ' ~ relation ~ ' and ' ~ other ~ ' ' ~ on_cluster) -%}
{% endmacro %}

{# Waits for what other replicas have written: the last run may have been on one of them. Returns whether any of the
   tables is replicated. #}
{% macro catch_up(relations, tables) %}
  {%- set replicated = [] -%}
  {%- for relation in relations if tables.get(relation.identifier, {'engine': ''}).engine.startswith('Replicated') -%}
    {%- do replicated.append(relation) -%}
    {%- do run_query('system sync replica ' ~ relation) -%}
  {%- endfor -%}
  {%- do return(replicated != []) -%}
{% endmacro %}

{% macro get_table_uuid_sql(target_relation) %}
  {%- do return(
      '(select uuid from system.tables where ' ~ versioned_collapsing.get_is_table_sql(target_relation) ~ ')'
  ) -%}
{% endmacro %}

{# The condition that selects a relation in system.tables, or in another system table. `name` is the column with the
   relation's name. #}
{% macro get_is_table_sql(relation, name='name') %}
  {%- do return(
      'database = ' ~ versioned_collapsing.quote_literal(relation.schema) ~ ' and ' ~ name ~ ' = '
      ~ versioned_collapsing.quote_literal(relation.identifier)
  ) -%}
{% endmacro %}

{# Whether the engine runs in dbt's own process. Then no other process can use its data. #}
{% macro is_embedded() %}
  {%- do return(target.get('driver') == 'chdb') -%}
{% endmacro %}
