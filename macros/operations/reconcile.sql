{# Compares the live rows of a model with a reference: first by checksums of key ranges, then key by key where these
   differ.
   `reference` is a model, or what can stand after `from` in ClickHouse. A difference is an error, so that the exit code
   shows it. #}
{% macro reconcile(model, reference, columns=none, show=20) %}
  {%- set comparison = versioned_collapsing.read_comparison('reconcile', model, reference, columns) -%}
  {%- set unique_key = comparison.options.unique_key -%}
  {%- set rows = versioned_collapsing.get_compared_rows_sql(comparison) -%}
  {%- set different = run_query(versioned_collapsing.get_different_ranges_sql(rows)).rows -%}
  {%- set ranges = different | map(attribute='_dbt_key_range') | list -%}
  {%- set found = run_query(versioned_collapsing.get_different_keys_sql(rows, unique_key, ranges, show))
      if different else none -%}
  {%- set counts = versioned_collapsing.get_difference_counts(found) -%}
  {%- do versioned_collapsing.create_verifications(comparison.table) -%}
  {%- do versioned_collapsing.record_reconciled(comparison, counts) -%}
  {%- do versioned_collapsing.validate_no_difference(comparison, counts, found) -%}
  {%- do log(
      comparison.table ~ ' agrees with ' ~ comparison.reference_text ~ ' in ' ~ comparison.columns | join(', '),
      info=true
  ) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# What `reconcile` and `verify` need to compare the live rows of a model with a reference:

   - operation: its name
   - table, node, options: those of the model
   - reference, reference_text: what to read the reference from, and what it is called
   - types: types of the table's columns
   - columns: the columns that are compared, by name, each with its types on both sides #}
{% macro read_comparison(operation, model, reference, columns) %}
  {%- set node = versioned_collapsing.get_collapsing_node(operation, model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table(operation, node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set relation = versioned_collapsing.get_reference_relation(operation, reference) -%}
  {%- do versioned_collapsing.validate_reference(operation, relation) -%}
  {%- set reference_text = versioned_collapsing.get_reference_text(reference) -%}
  {%- set types = versioned_collapsing.read_stored_columns(table, options.sign) -%}
  {%- set given = versioned_collapsing.read_types(relation) -%}
  {%- set compared = versioned_collapsing.as_list(columns) or (types | select('in', given) | list) -%}
  {%- set names = (options.unique_key + compared) | unique | list -%}
  {%- do versioned_collapsing.validate_reconciled_columns(
      operation, table, reference_text, compared, names, types, given
  ) -%}
  {%- do return({
      'operation': operation,
      'table': table,
      'node': node,
      'options': options,
      'reference': relation,
      'reference_text': reference_text,
      'types': types,
      'columns': versioned_collapsing._describe_compared(names, types, given),
  }) -%}
{% endmacro %}


{# What to read the reference from: a model on Spark through the hand-off, a model on ClickHouse by its name, and
   anything else as it is given. #}
{% macro get_reference_relation(operation, reference) %}
  {%- set nodes = graph.nodes.values() | selectattr('resource_type', 'in', ('model', 'seed', 'snapshot')) | list -%}
  {%- set found = versioned_collapsing.get_nodes_named(reference, nodes) -%}
  {%- do versioned_collapsing.validate_one_node(operation, reference, found) -%}
  {%- if not found -%}
    {%- do return(reference) -%}
  {%- endif -%}
  {%- set node = found[0] -%}
  {%- if adapter.hand_off is defined and node.database == 'spark' -%}
    {%- do return(adapter.hand_off(node.schema, node.alias) | string) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.quote_name(node.schema) ~ '.' ~ versioned_collapsing.quote_name(node.alias)) -%}
{% endmacro %}


{# Both sides must have the columns that are compared. #}
{% macro validate_reconciled_columns(operation, table, reference_text, compared, names, types, given) %}
  {%- set unknown = compared | reject('in', types) | list -%}
  {%- set lacking = names | reject('in', given) | list -%}
  {%- set problems = [] -%}
  {%- if unknown -%}
    {%- do problems.append(
        "columns: " ~ table ~ " lacks " ~ unknown | join(', ') ~ ". It has " ~ types | join(', ')
        ~ ". Correct the name."
    ) -%}
  {%- endif -%}
  {%- if lacking -%}
    {%- do problems.append(
        reference_text ~ " lacks " ~ lacking | join(', ') ~ ". It has " ~ given | join(', ')
        ~ ". Correct the name, or select the column."
    ) -%}
  {%- endif -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(operation ~ ": " ~ problems | join("\n" ~ operation ~ ": ")) -%}
  {%- endif -%}
{% endmacro %}


{# The columns by name, in the form that the macros that compare values take. #}
{% macro _describe_compared(names, types, given_types) %}
  {%- set described = {} -%}
  {%- for name in names -%}
    {%- do described.update({name: {'name': name, 'type': types[name], 'given_type': given_types[name]}}) -%}
  {%- endfor -%}
  {%- do return(described) -%}
{% endmacro %}


{# The selects of the live rows and of the true rows, each with a condition on the rows that count. #}
{% macro get_compared_rows_sql(comparison, is_live_in='true', is_true_in='true') %}
  {%- set columns, unique_key = comparison.columns, comparison.options.unique_key -%}
  {%- set is_live_row = versioned_collapsing.quote_name(comparison.options.sign) ~ ' = 1 and ' ~ is_live_in -%}
  {%- do return({
      'live': versioned_collapsing.get_reconcile_rows_sql(
          comparison.table ~ ' final', columns, unique_key, is_live_row, is_live=true
      ),
      'true': versioned_collapsing.get_reconcile_rows_sql(
          comparison.reference, columns, unique_key, is_true_in, is_live=false
      ),
  }) -%}
{% endmacro %}


{# The key of each row, and a checksum of all its columns in the types of the table. The checksum includes the names of
   the columns that lost something when they were cast to these types. #}
{% macro get_reconcile_rows_sql(relation, columns, unique_key, condition, is_live) -%}
  {%- set values = {} -%}
  {%- for name, column in columns.items() -%}
    {%- do values.update({name: versioned_collapsing.get_live_value_sql(column) if is_live
        else versioned_collapsing.get_true_value_sql(column)}) -%}
  {%- endfor -%}
  {%- set values_of_key = [] -%}
  {%- for name in unique_key -%}{%- do values_of_key.append(values[name]) -%}{%- endfor -%}
  {%- set lost = 'emptyArrayString()' if is_live else versioned_collapsing.get_lost_columns_sql(columns.values()) -%}
  select
    {%- for name in unique_key %}
    {{ values[name] }} as _dbt_key_{{ loop.index }},
    {%- endfor %}
    {{ versioned_collapsing.get_key_hash_sql(values_of_key) }} as _dbt_key_hash,
    cityHash64(tuple({{ (['_dbt_key_hash', lost] + values.values() | list) | join(', ') }})) as _dbt_checksum
  from {{ relation }}
  where {{ condition }}
{%- endmacro %}


{% macro get_key_hash_sql(values) %}
  {%- do return('cityHash64(tuple(' ~ values | join(', ') ~ ', 0))') -%}
{% endmacro %}


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
  {%- set is_in_ranges = 'intDiv(_dbt_key_hash, 72057594037927936) in (' ~ ranges | join(', ') ~ ')' -%}
  select
    multiIf(_dbt_live_rows = 0, 'missing', _dbt_true_rows = 0, 'unexpected', 'different') as difference,
    count() as n,
    arrayStringConcat(groupArray({{ show }})(_dbt_shown), ' ') as some_keys
  from ({{ versioned_collapsing.get_compared_keys_sql(rows, unique_key, is_in_ranges) }})
  where not _dbt_is_same
  group by difference
  order by difference
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# Each key, with the number of rows that each side has for it, and whether the rows of both sides are the same. #}
{% macro get_compared_keys_sql(rows, unique_key, condition) -%}
  select
    _dbt_key_hash,
    toString(tuple({% for name in unique_key %}any(_dbt_key_{{ loop.index }}){{ ', '
        if not loop.last }}{% endfor %})) as _dbt_entity,
    {{ versioned_collapsing.get_shown_text_sql('_dbt_entity') }} as _dbt_shown,
    countIf(_dbt_is_live) as _dbt_live_rows,
    countIf(not _dbt_is_live) as _dbt_true_rows,
    _dbt_live_rows = _dbt_true_rows
      and sumIf(_dbt_checksum, _dbt_is_live) = sumIf(_dbt_checksum, not _dbt_is_live) as _dbt_is_same
  from (
    select *, true as _dbt_is_live from ({{ rows['live'] }})
    union all
    select *, false as _dbt_is_live from ({{ rows['true'] }})
  )
  where {{ condition }}
  group by _dbt_key_hash
{%- endmacro %}


{# How many keys differ, by kind. #}
{% macro get_difference_counts(found) %}
  {%- set counts = {'missing': 0, 'unexpected': 0, 'different': 0} -%}
  {%- if found -%}
    {%- for row in found.rows -%}
      {%- do counts.update({row['difference']: row['n'] | int}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}


{# A difference is an error, so that the exit code shows it. It is in the database, and nothing that dbt compiles. #}
{% macro validate_no_difference(comparison, counts, found) %}
  {%- if found -%}
    {%- do exceptions.raise_database_error(
        "reconcile: " ~ comparison.table ~ " differs from " ~ comparison.reference_text ~ ": "
        ~ versioned_collapsing.format_count(counts.missing, 'key') ~ " missing, " ~ counts.unexpected
        ~ " unexpected, " ~ counts.different ~ " with other values\n  "
        ~ versioned_collapsing.format_table(found) | join("\n  ")
        ~ "\nFind out which side is right. If it is the reference: a full refresh, or batches that are taken again, "
        ~ "bring back what is missing or different, and a delete with a higher version removes what is unexpected."
    ) -%}
  {%- endif -%}
{% endmacro %}
