{# Compares the live rows of a model with a relation of the truth: by checksums of key ranges first, then, where
   they differ, key by key. `truth` is a model, or what can stand after `from` in ClickHouse. What differs is an error,
   for whoever waits for the exit code. #}
{% macro reconcile(model, truth, columns=none, show=20) %}
  {%- set node = versioned_collapsing.get_collapsing_node('reconcile', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('reconcile', node) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- set relation = versioned_collapsing.get_truth_relation(truth) -%}
  {%- do versioned_collapsing.validate_truth('reconcile', relation) -%}
  {%- set truth_text = versioned_collapsing.get_truth_text(truth) -%}
  {%- set types = versioned_collapsing.read_stored_columns(table, options.sign) -%}
  {%- set given = versioned_collapsing.read_types(relation) -%}
  {%- set compared = versioned_collapsing.as_list(columns) or (types | select('in', given) | list) -%}
  {%- set unknown = compared | reject('in', types) | list -%}
  {%- if unknown -%}
    {%- do exceptions.raise_compiler_error("reconcile: columns: " ~ table ~ " lacks " ~ unknown ~ ". It has " ~ types | list ~ ".") -%}
  {%- endif -%}
  {%- set lacking = (options.unique_key + compared) | unique | reject('in', given) | list -%}
  {%- if lacking -%}
    {%- do exceptions.raise_compiler_error("reconcile: " ~ truth_text ~ " lacks " ~ lacking ~ ". It has " ~ given | list ~ ".") -%}
  {%- endif -%}
  {%- set names = (options.unique_key + compared) | unique | list -%}
  {%- set described = versioned_collapsing._describe_compared(names, types, given) -%}
  {%- set rows = {
      'live': versioned_collapsing.get_reconcile_rows_sql(table ~ ' final', described, options.unique_key, versioned_collapsing.quote_name(options.sign) ~ ' = 1', is_live=true),
      'true': versioned_collapsing.get_reconcile_rows_sql(relation, described, options.unique_key, 'true', is_live=false),
  } -%}
  {%- set ranges = run_query(versioned_collapsing.get_different_ranges_sql(rows)).rows | map(attribute='_dbt_key_range') | list -%}
  {%- if not ranges -%}
    {%- do log(table ~ ' agrees with ' ~ truth_text ~ ' in ' ~ names | join(', '), info=true) -%}
    {%- do return({'missing': 0, 'unexpected': 0, 'different': 0}) -%}
  {%- endif -%}
  {%- set found = run_query(versioned_collapsing.get_different_keys_sql(rows, options.unique_key, ranges, show)) -%}
  {%- set counts = {'missing': 0, 'unexpected': 0, 'different': 0} -%}
  {%- for row in found.rows -%}
    {%- do counts.update({row['difference']: row['n'] | int}) -%}
  {%- endfor -%}
  {%- do exceptions.raise_compiler_error(
      "reconcile: " ~ table ~ " differs from " ~ truth_text ~ ": " ~ versioned_collapsing.format_count(counts.missing, 'key') ~ " missing, "
      ~ counts.unexpected ~ " unexpected, " ~ counts.different ~ " with other values\n  "
      ~ versioned_collapsing.format_table(found) | join("\n  ")
  ) -%}
{% endmacro %}


{# A model of Spark's is read through the hand-off, one of ClickHouse's by its name; the rest as it is. #}
{% macro get_truth_relation(truth) %}
  {%- set nodes = graph.nodes.values() | selectattr('resource_type', 'in', ('model', 'seed', 'snapshot')) | list -%}
  {%- set node = versioned_collapsing.get_node_named('reconcile', truth, nodes) -%}
  {%- if node is none -%}{%- do return(truth) -%}{%- endif -%}
  {%- if adapter.hand_off is defined and node.database == 'spark' -%}
    {%- do return(adapter.hand_off(node.schema, node.alias) | string) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.quote_name(node.schema) ~ '.' ~ versioned_collapsing.quote_name(node.alias)) -%}
{% endmacro %}


{# The columns as the macros that compare values take them, by name. #}
{% macro _describe_compared(names, types, given_types) %}
  {%- set described = {} -%}
  {%- for name in names -%}
    {%- do described.update({name: {'name': name, 'type': types[name], 'given_type': given_types[name]}}) -%}
  {%- endfor -%}
  {%- do return(described) -%}
{% endmacro %}


{# Key, and a checksum of all columns in the types of the table, with the names of those that lost something in these. #}
{% macro get_reconcile_rows_sql(relation, columns, unique_key, condition, is_live) -%}
  {%- set values = {} -%}
  {%- for name, column in columns.items() -%}
    {%- do values.update({name: versioned_collapsing.get_live_value_sql(column) if is_live else versioned_collapsing.get_true_value_sql(column)}) -%}
  {%- endfor -%}
  {%- set lost = 'emptyArrayString()' if is_live else versioned_collapsing.get_lost_columns_sql(columns.values()) -%}
  select
    {%- for name in unique_key %}
    {{ values[name] }} as _dbt_key_{{ loop.index }},
    {%- endfor %}
    cityHash64(tuple({% for name in unique_key %}_dbt_key_{{ loop.index }}, {% endfor %}0)) as _dbt_key_hash,
    cityHash64(tuple({{ (['_dbt_key_hash', lost] + values.values() | list) | join(', ') }})) as _dbt_checksum
  from {{ relation }}
  where {{ condition }}
{%- endmacro %}


{% macro get_different_ranges_sql(rows) -%}
  select _dbt_key_range
  from (
    select
      intDiv(_dbt_key_hash, 72057594037927936) as _dbt_key_range,
      toInt64(count()) as _dbt_rows,
      sum(_dbt_checksum) as _dbt_total
    from ({{ rows['live'] }})
    group by _dbt_key_range

    union all

    select
      intDiv(_dbt_key_hash, 72057594037927936) as _dbt_key_range,
      -toInt64(count()) as _dbt_rows,
      sum(_dbt_checksum) as _dbt_total
    from ({{ rows['true'] }})
    group by _dbt_key_range
  )
  group by _dbt_key_range
  having sum(_dbt_rows) <> 0 or uniqExact(_dbt_total) > 1 or count() <> 2
  order by _dbt_key_range
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro get_different_keys_sql(rows, unique_key, ranges, show) -%}
  select
    multiIf(_dbt_live_rows = 0, 'missing', _dbt_true_rows = 0, 'unexpected', 'different') as difference,
    count() as n,
    arrayStringConcat(groupArray({{ show }})(_dbt_entity), ' ') as some_keys
  from (
    select
      toString(tuple({% for name in unique_key %}any(_dbt_key_{{ loop.index }}){{ ', ' if not loop.last }}{% endfor %})) as _dbt_entity,
      countIf(_dbt_is_live) as _dbt_live_rows,
      countIf(not _dbt_is_live) as _dbt_true_rows,
      sumIf(_dbt_checksum, _dbt_is_live) = sumIf(_dbt_checksum, not _dbt_is_live) as _dbt_is_same
    from (
      select *, true as _dbt_is_live from ({{ rows['live'] }})
      union all
      select *, false as _dbt_is_live from ({{ rows['true'] }})
    )
    where intDiv(_dbt_key_hash, 72057594037927936) in ({{ ranges | join(', ') }})
    group by _dbt_key_hash
  )
  where not _dbt_is_same or _dbt_live_rows <> _dbt_true_rows
  group by difference
  order by difference
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
