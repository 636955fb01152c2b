{# Compares the live rows of a model with a relation of the truth: by checksums of key ranges first, then, where
   they differ, key by key. `truth` is a model, or what can stand after `from` in ClickHouse. #}
{% macro reconcile(model, truth, columns=none, show=20) %}
  {%- set node = versioned_collapsing.get_collapsing_node('reconcile', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('reconcile', node) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- set relation = versioned_collapsing.get_truth_relation(truth) -%}
  {%- set types = {} -%}
  {%- for column in adapter.get_columns_in_relation(table) if column.name != options.sign -%}
    {%- do types.update({column.name: column.data_type}) -%}
  {%- endfor -%}
  {%- set given = adapter.get_column_schema_from_query('select * from ' ~ relation ~ ' limit 0') | map(attribute='name') | list -%}
  {%- set compared = versioned_collapsing._as_list(columns) or (types | select('in', given) | list) -%}
  {%- set lacking = (options.unique_key + compared) | reject('in', given) | list -%}
  {%- if lacking -%}
    {%- do exceptions.raise_compiler_error("reconcile: " ~ truth ~ " lacks " ~ lacking ~ ". It has " ~ given ~ ".") -%}
  {%- endif -%}
  {%- set payload = compared | reject('in', options.unique_key) | list -%}
  {%- set rows = {
      'live': versioned_collapsing.get_reconcile_rows_sql(table ~ ' final', types, options.unique_key, payload, adapter.quote(options.sign) ~ ' = 1'),
      'true': versioned_collapsing.get_reconcile_rows_sql(relation, types, options.unique_key, payload, 'true'),
  } -%}
  {%- set ranges = run_query(versioned_collapsing.get_different_ranges_sql(rows)).rows | map(attribute='_dbt_key_range') | list -%}
  {%- if not ranges -%}
    {%- do log(table ~ ' agrees with ' ~ truth ~ ' in ' ~ (options.unique_key + payload) | join(', '), info=true) -%}
    {%- do return({'missing': 0, 'unexpected': 0, 'different': 0}) -%}
  {%- endif -%}
  {%- set found = run_query(versioned_collapsing.get_different_keys_sql(rows, options.unique_key, ranges, show)) -%}
  {%- set counts = {'missing': 0, 'unexpected': 0, 'different': 0} -%}
  {%- for row in found.rows -%}
    {%- do counts.update({row['difference']: row['n'] | int}) -%}
  {%- endfor -%}
  {%- do log(
      table ~ ' differs from ' ~ truth ~ ': ' ~ counts.missing ~ ' keys missing, ' ~ counts.unexpected ~ ' unexpected, ' ~ counts.different ~ ' with other values',
      info=true
  ) -%}
  {%- do versioned_collapsing.log_table(found) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# A model of Spark's is read through the hand-off, one of ClickHouse's by its name; the rest as it is. #}
{% macro get_truth_relation(truth) %}
  {%- for node in graph.nodes.values() if node.name == truth and node.resource_type in ('model', 'seed', 'snapshot') -%}
    {%- if adapter.hand_off is defined and node.database == 'spark' -%}
      {%- do return(adapter.hand_off(node.schema, node.alias) | string) -%}
    {%- endif -%}
    {%- do return(adapter.quote(node.schema) ~ '.' ~ adapter.quote(node.alias)) -%}
  {%- endfor -%}
  {%- do return(truth) -%}
{% endmacro %}


{# Key, and a checksum of the other columns in the types of the table. #}
{% macro get_reconcile_rows_sql(relation, types, unique_key, payload, condition) -%}
  {%- set casts = [] -%}
  {%- for name in payload -%}
    {%- do casts.append('cast(' ~ adapter.quote(name) ~ ', ' ~ versioned_collapsing._literal(types[name]) ~ ')') -%}
  {%- endfor -%}
  select
    {%- for name in unique_key %}
    cast({{ adapter.quote(name) }}, {{ versioned_collapsing._literal(types[name]) }}) as _dbt_key_{{ loop.index }},
    {%- endfor %}
    cityHash64(tuple({% for name in unique_key %}_dbt_key_{{ loop.index }}, {% endfor %}0)) as _dbt_key_hash,
    cityHash64(tuple({{ (['_dbt_key_hash'] + casts) | join(', ') }})) as _dbt_checksum
  from {{ relation }}
  where {{ condition }}
{%- endmacro %}


{% macro get_different_ranges_sql(rows) -%}
  select _dbt_key_range
  from (
    select intDiv(_dbt_key_hash, 72057594037927936) as _dbt_key_range, toInt64(count()) as n, sum(_dbt_checksum) as total from ({{ rows['live'] }}) group by _dbt_key_range
    union all
    select intDiv(_dbt_key_hash, 72057594037927936), -toInt64(count()), sum(_dbt_checksum) from ({{ rows['true'] }}) group by 1
  )
  group by _dbt_key_range
  having sum(n) <> 0 or uniqExact(total) > 1 or count() <> 2
  order by _dbt_key_range
{%- endmacro %}


{% macro get_different_keys_sql(rows, unique_key, ranges, show) -%}
  select
    multiIf(live_rows = 0, 'missing', true_rows = 0, 'unexpected', 'different') as difference,
    count() as n,
    arrayStringConcat(groupArray({{ show }})(entity), ' ') as some_keys
  from (
    select
      toString(tuple({% for name in unique_key %}any(_dbt_key_{{ loop.index }}){{ ', ' if not loop.last }}{% endfor %})) as entity,
      countIf(is_live) as live_rows,
      countIf(not is_live) as true_rows,
      sumIf(_dbt_checksum, is_live) = sumIf(_dbt_checksum, not is_live) as is_same
    from (
      select *, true as is_live from ({{ rows['live'] }})
      union all
      select *, false from ({{ rows['true'] }})
    )
    where intDiv(_dbt_key_hash, 72057594037927936) in ({{ ranges | join(', ') }})
    group by _dbt_key_hash
  )
  where not is_same
  group by difference
  order by difference
{%- endmacro %}
