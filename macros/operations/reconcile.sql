{# Compares the live rows of a model with a reference: a model, or what can stand after `from` in ClickHouse. The keys
   are cut into ranges, by default of about 5 million rows each, and compared range by range, so that memory is that of
   a range. A difference is an error, so that the exit code shows it.

   Without a reference, it searches for keys that `forget` has removed.

   - position: the version up to which the reference is known; keys that the table has changed above it are skipped
   - ranges: how many key ranges
   - at_once: how many of them this run compares, the next run the next ones; by default all of them #}
{% macro reconcile(model, reference=none, columns=none, position=none, ranges=none, at_once=none, show=20) %}
  {%- if reference is none -%}
    {%- do return(versioned_collapsing.check_certificates(model)) -%}
  {%- endif -%}
  {%- set comparison = versioned_collapsing._read_comparison(model, reference, columns) -%}
  {%- do versioned_collapsing._validate_ranges(ranges, at_once) -%}
  {%- do versioned_collapsing.prepare_ledger(comparison.table) -%}
  {%- set position = versioned_collapsing._read_position(comparison, position) -%}
  {%- do versioned_collapsing._validate_position(comparison, position) -%}
  {%- do versioned_collapsing._create_verifications(comparison.table) -%}
  {%- set keys = versioned_collapsing._get_range_keys(comparison) -%}
  {%- set definition = versioned_collapsing._get_cycle_definition(comparison, keys, position, ranges) -%}
  {%- set left = versioned_collapsing._read_ranges_left(comparison, definition) if at_once else [] -%}
  {%- if not left -%}
    {%- do versioned_collapsing._plan_cycle(comparison, keys.live, definition, ranges) -%}
    {%- set left = versioned_collapsing._read_ranges_left(comparison, definition) -%}
  {%- endif -%}
  {%- set total = namespace(counts={}) -%}
  {%- for range in left[:at_once] -%}
    {%- set counts = versioned_collapsing._compare_range(comparison, keys, position, range, show) -%}
    {%- set total.counts = versioned_collapsing._get_added_counts(total.counts, counts) -%}
  {%- endfor -%}
  {%- set compared = versioned_collapsing._get_compared_text(total.counts, left, at_once) -%}
  {%- do versioned_collapsing._validate_no_difference(comparison, total.counts, compared) -%}
  {%- do log(
      comparison.table ~ ' agrees with ' ~ comparison.reference_text ~ ' in ' ~ comparison.columns | join(', ') ~ ': '
      ~ compared, info=true
  ) -%}
  {%- do return(total.counts) -%}
{% endmacro %}

{# What is compared with what:

   - table, node, options: those of the model
   - reference, reference_text: what to read the reference from, and what it is called
   - types: types of the table's columns
   - columns: the columns that are compared, by name, each with its types on both sides
   - is_forgotten: the condition that `forget` has removed a key #}
{% macro _read_comparison(model, reference, columns) %}
  {%- set node = versioned_collapsing.get_collapsing_node('reconcile', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('reconcile', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set relation = versioned_collapsing._get_reference_relation(reference) -%}
  {%- do versioned_collapsing.validate_reference('reconcile', relation) -%}
  {%- set types = versioned_collapsing.read_stored_columns(table, options.sign) -%}
  {%- set given = versioned_collapsing.read_types(relation) -%}
  {%- set names = (options.unique_key + (versioned_collapsing.as_list(columns)
      or types | select('in', given) | list)) | unique | list -%}
  {%- do versioned_collapsing.validate_compared_columns(
      'reconcile', table, reference, columns, names, types, given
  ) -%}
  {%- set described = {} -%}
  {%- for column in versioned_collapsing.get_compared_columns(names, types, given) -%}
    {%- do described.update({column.name: column}) -%}
  {%- endfor -%}
  {%- do return({
      'table': table,
      'node': node,
      'options': options,
      'reference': relation,
      'reference_text': versioned_collapsing.get_reference_text(reference),
      'types': types,
      'columns': described,
      'is_forgotten': versioned_collapsing._read_is_forgotten_sql(table, node, options),
  }) -%}
{% endmacro %}

{# What to read the reference from: a model on Spark through the hand-off, a model on ClickHouse by its name, and
   anything else as it is given. #}
{% macro _get_reference_relation(reference) %}
  {%- set nodes = graph.nodes.values() | selectattr('resource_type', 'in', ('model', 'seed', 'snapshot')) | list -%}
  {%- set found = versioned_collapsing.get_nodes_named(reference, nodes) -%}
  {%- do versioned_collapsing.validate_one_node('reconcile', reference, found) -%}
  {%- if not found -%}
    {%- do return(reference) -%}
  {%- endif -%}
  {%- set node = found[0] -%}
  {%- if adapter.hand_off is defined and node.database == 'spark' -%}
    {%- do return(adapter.hand_off(node.schema, node.alias) | string) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.quote_name(node.schema) ~ '.' ~ versioned_collapsing.quote_name(node.alias)) -%}
{% endmacro %}

{% macro _validate_ranges(ranges, at_once) %}
  {%- if ranges is not none and (ranges is not integer or not 1 <= ranges <= 10000) -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: ranges is " ~ tojson(ranges) ~ ". It is a number from 1 to 10000."
    ) -%}
  {%- elif at_once is not none and (at_once is not integer or at_once < 1) -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: at_once is " ~ tojson(at_once) ~ ". It is a number from 1 on."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The version up to which the reference is known, and what else decides whether the table can be compared there:

   - text, sql: the version, none if the whole table is compared
   - type: the type of the table's versions
   - is_version: whether the position is a value of this type
   - truncated_at, is_truncated: the version at which the table was emptied, and whether it is above the position
   - apply: number of the table's last apply
   - timezone: of the session #}
{% macro _read_position(comparison, position) %}
  {%- set ledger = versioned_collapsing.read_ledger(comparison.table, comparison.node) -%}
  {%- set type = versioned_collapsing.get_base_type(comparison.types[comparison.options.version]) -%}
  {%- set given = none if position is none else position | string -%}
  {%- set sql = none if position is none else versioned_collapsing._get_position_sql(given, type) -%}
  {%- set truncated = versioned_collapsing._get_position_sql(ledger.truncated_at or '', type) -%}
  {%- set query -%}
    select
      toInt64({{ 'true' if position is none else 'isNotNull(' ~ sql ~ ')' }}) as is_version,
      toInt64({{ 'false' if position is none else 'ifNull(' ~ truncated ~ ' > ' ~ sql ~ ', false)' }}) as is_truncated,
      concat('in ', timezone()) as timezone
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({
      'text': given,
      'sql': sql,
      'type': type,
      'is_version': found['is_version'] | int == 1,
      'truncated_at': ledger.truncated_at,
      'is_truncated': found['is_truncated'] | int == 1,
      'apply': ledger.number,
      'timezone': found['timezone'],
  }) -%}
{% endmacro %}

{% macro _get_position_sql(text, type) %}
  {%- do return(
      'accurateCastOrNull(' ~ versioned_collapsing.quote_literal(text) ~ ', '
      ~ versioned_collapsing.quote_literal(type) ~ ')'
  ) -%}
{% endmacro %}

{# A position must be a version, and the table must know which keys it has deleted above it. #}
{% macro _validate_position(comparison, position) %}
  {%- set model = comparison.node.name -%}
  {%- if not position.is_version -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: position is '" ~ position.text ~ "', but the versions of " ~ model ~ " are " ~ position.type
        ~ ". Give a position of this type."
    ) -%}
  {%- elif position.sql and (comparison.options.old_state == 'stream' or not comparison.options.remember_deletes) -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: " ~ model ~ " does not remember deletes, so a key that was deleted above position " ~ position.text
        ~ " would be taken for a lost one. Compare with a reference as new as the table, without `position`."
    ) -%}
  {%- elif position.is_truncated -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: " ~ model ~ " was truncated at version " ~ position.truncated_at ~ ", above position "
        ~ position.text ~ ". Compare with a reference that is as new as that."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The columns of the key by which ranges are cut, on both sides. It is the column itself if an index or another
   database can use it, and otherwise the value that is compared. #}
{% macro _get_range_keys(comparison) %}
  {%- set keys = {'live': [], 'given': []} -%}
  {%- for name in comparison.options.unique_key -%}
    {%- set column = comparison.columns[name] -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- set given = versioned_collapsing.get_base_type(column.given_type) -%}
    {%- set is_text = base.startswith('Enum') -%}
    {%- set is_same = given == base or (given.startswith(('Int', 'UInt')) and base.startswith(('Int', 'UInt'))) -%}
    {%- set quoted = versioned_collapsing.quote_name(name) -%}
    {%- set type = 'String' if is_text else base -%}
    {%- do keys.live.append({
        'type': type,
        'is_nullable': is_text or 'Nullable(' in column.type,
        'sql': versioned_collapsing.get_live_value_sql(column) if is_text else quoted,
    }) -%}
    {%- do keys.given.append({
        'type': type,
        'is_nullable': is_text or not is_same or 'Nullable(' in column.given_type,
        'sql': quoted if is_same and not is_text else versioned_collapsing.get_given_value_sql(column),
    }) -%}
  {%- endfor -%}
  {%- do return(keys) -%}
{% endmacro %}

{# A hash that two runs of one cycle share. It covers the reference, the columns, how the keys are cut into ranges, and
   the time zone of the session, in which texts of times are read. #}
{% macro _get_cycle_definition(comparison, keys, position, ranges) %}
  {%- do return(local_md5(tojson([
      comparison.reference, comparison.columns.values() | list, keys.live | map(attribute='sql') | list, ranges,
      position.timezone
  ]))) -%}
{% endmacro %}

{# The ranges of the last cycle that are not verified; none if that cycle is complete, or has another definition. #}
{% macro _read_ranges_left(comparison, definition) %}
  {%- set verifications = versioned_collapsing.get_verifications_relation(comparison.table) -%}
  {%- set is_of_table = versioned_collapsing._get_is_verification_sql(comparison) -%}
  {%- set query -%}
    select cycle, range as number, ranges, lower, upper
    from {{ verifications }}
    where {{ is_of_table }}
      and status = 'planned'
      and definition = {{ versioned_collapsing.quote_literal(definition) }}
      and cycle = (select max(cycle) from {{ verifications }} where {{ is_of_table }})
      and (cycle, range) not in (
        select cycle, range from {{ verifications }} where {{ is_of_table }} and status = 'verified'
      )
    order by range
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set left = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do left.append({
        'cycle': row['cycle'] | int,
        'number': row['number'] | int,
        'ranges': row['ranges'] | int,
        'definition': definition,
        'lower': row['lower'],
        'upper': row['upper'],
    }) -%}
  {%- endfor -%}
  {%- do return(left) -%}
{% endmacro %}

{# The condition that a row is about the table that has the name now. #}
{% macro _get_is_verification_sql(comparison) %}
  {%- do return(
      'model = ' ~ versioned_collapsing.quote_literal(comparison.node.name) ~ ' and target_uuid = '
      ~ versioned_collapsing.get_table_uuid_sql(comparison.table)
  ) -%}
{% endmacro %}

{# Begins a cycle: cuts the keys of the table into ranges with about the same number of rows. The bounds are keys of a
   sample. The first range has no lower bound and the last range has no upper one, so that each key of the reference is
   in a range. #}
{% macro _plan_cycle(comparison, keys, definition, ranges) %}
  {%- set verifications = versioned_collapsing.get_verifications_relation(comparison.table) -%}
  {%- set keys_sql = keys | map(attribute='sql') | list -%}
  {% call statement('plan_cycle') -%}
    insert into {{ verifications }} (
      model, target_uuid, invocation_id, status, at, cycle, definition, reference, range, ranges, lower, upper
    )
    with
      toUInt64({{ ranges or '(select intDiv(count(), 5000000) + 1 from ' ~ comparison.table ~ ')' }}) as _dbt_ranges,
      (
        select arraySort(groupArraySample(65536, 1)(tuple({{ keys_sql | join(', ') }})))
        from {{ comparison.table }}
        where _dbt_ranges > 1 and not (isNull({{ keys_sql | join(') or isNull(') }}))
      ) as _dbt_sample,
      arrayDistinct(arrayMap(
        _dbt_at -> _dbt_sample[intDiv(_dbt_at * length(_dbt_sample), _dbt_ranges) + 1], range(1, _dbt_ranges)
      )) as _dbt_cuts,
      arrayMap(_dbt_cut -> toString(_dbt_cut), _dbt_cuts) as _dbt_bounds
    select
      {{ versioned_collapsing.quote_literal(comparison.node.name) }},
      {{ versioned_collapsing.get_table_uuid_sql(comparison.table) }},
      {{ versioned_collapsing.quote_literals([invocation_id, 'planned']) }},
      now64(6, 'UTC'),
      (
        select max(cycle) + 1
        from {{ verifications }}
        where {{ versioned_collapsing._get_is_verification_sql(comparison) }}
      ),
      {{ versioned_collapsing.quote_literals([definition, comparison.reference_text]) }},
      _dbt_range.1,
      length(_dbt_bounds) + 1,
      _dbt_range.2,
      _dbt_range.3
    from (
      select arrayJoin(arrayZip(
        arrayEnumerate(arrayPushBack(_dbt_bounds, '')), arrayPushFront(_dbt_bounds, ''), arrayPushBack(_dbt_bounds, '')
      )) as _dbt_range
    )
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}

{# Compares a range, and records what was found. The keys that differ are in no statement. #}
{% macro _compare_range(comparison, keys, position, range, show) %}
  {%- do versioned_collapsing._record_verified(
      comparison, position, range, versioned_collapsing._get_range_counts_sql(comparison, keys, position, range, show)
  ) -%}
  {%- set names = versioned_collapsing.get_verified_names() -%}
  {%- set query -%}
    select {{ names | join(', ') }}, differing_keys
    from {{ versioned_collapsing.get_verifications_relation(comparison.table) }}
    where {{ versioned_collapsing._get_is_verification_sql(comparison) }}
      and status = 'verified' and cycle = {{ range.cycle }} and range = {{ range.number }}
    order by at desc
    limit 1
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set counts = {'differing_keys': found['differing_keys']} -%}
  {%- for name in names -%}
    {%- do counts.update({name: found[name] | int}) -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}

{# The kinds of keys of a range that are counted. `compared` counts all of them except `later` and `forgotten`. #}
{% macro get_verified_names() %}
  {%- do return(['compared', 'missing', 'unexpected', 'doubled', 'different', 'later', 'forgotten']) -%}
{% endmacro %}

{% macro _get_range_counts_sql(comparison, keys, position, range, show) -%}
  {%- set key = versioned_collapsing.quote_names(comparison.options.unique_key) -%}
  {%- set is_live_in = versioned_collapsing._get_is_in_range_sql(keys.live, range) -%}
  {%- set live = {'rows': comparison.table, 'where': is_live_in,
      'sign': versioned_collapsing.quote_name(comparison.options.sign)} -%}
  {%- set given = {'rows': comparison.reference,
      'where': versioned_collapsing._get_is_in_range_sql(keys.given, range)} -%}
  {%- set is_later = versioned_collapsing._get_is_later_sql(comparison, position, is_live_in) -%}
  select
    countIf(_dbt_found not in ('later', 'forgotten')) as compared,
    {%- for name in versioned_collapsing.get_verified_names()[1:] %}
    countIf(_dbt_found = {{ versioned_collapsing.quote_literal(name) }}) as {{ name }},
    {%- endfor %}
    arrayStringConcat(
      arraySort(groupArrayIf({{ show }})(
        concat(_dbt_found, ' ', _dbt_shown), _dbt_found not in ('same', 'later', 'forgotten')
      )),
      ', '
    ) as differing_keys
  from (
    select
      toString(tuple({{ key }})) as _dbt_entity,
      {{ versioned_collapsing.get_shown_text_sql('_dbt_entity') }} as _dbt_shown,
      multiIf({{ comparison.is_forgotten }}, 'forgotten', {{ is_later }}, 'later', _dbt_kind) as _dbt_found
    from ({{ versioned_collapsing.get_compared_keys_sql(comparison.columns.values() | list, key, live, given) }})
  )
{%- endmacro %}

{# The condition that a key is in a range: at or above `lower`, and below `upper`. Every key is in exactly one range: if
   a null makes a comparison unknown, both conditions take the key to be below the bound. #}
{% macro _get_is_in_range_sql(keys, range) %}
  {%- set conditions = ['true'] -%}
  {%- if range.number > 1 -%}
    {%- do conditions.append(versioned_collapsing._get_range_bound_sql(keys, range.lower, '>=', '')) -%}
  {%- endif -%}
  {%- if range.number < range.ranges -%}
    {%- do conditions.append(versioned_collapsing._get_range_bound_sql(keys, range.upper, '<=', 'not ')) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ')) -%}
{% endmacro %}

{# A bound is the text of a tuple. An index, and another database, can use only the comparison of the first column. #}
{% macro _get_range_bound_sql(keys, bound, comparison, negation) %}
  {%- set type = 'Tuple(' ~ keys | map(attribute='type') | join(', ') ~ ')' -%}
  {%- set bound_sql = 'cast(' ~ versioned_collapsing.quote_literal(bound) ~ ', '
      ~ versioned_collapsing.quote_literal(type) ~ ')' -%}
  {%- set is_from = 'tuple(' ~ keys | map(attribute='sql') | join(', ') ~ ') >= ' ~ bound_sql -%}
  {%- if keys | selectattr('is_nullable') | list -%}
    {%- do return(negation ~ 'ifNull(' ~ is_from ~ ', false)') -%}
  {%- endif -%}
  {%- do return(
      keys[0].sql ~ ' ' ~ comparison ~ ' tupleElement(' ~ bound_sql ~ ', 1) and ' ~ negation ~ '(' ~ is_from ~ ')'
  ) -%}
{% endmacro %}

{# The condition that the table has changed a key above the position: it has stored rows or a tombstone of the key
   there. #}
{% macro _get_is_later_sql(comparison, position, is_in_range) -%}
  {%- if not position.sql -%}{%- do return('false') -%}{%- endif -%}
  {%- set values = [] -%}
  {%- for name in comparison.options.unique_key -%}
    {%- do values.append(versioned_collapsing.get_live_value_sql(comparison.columns[name])) -%}
  {%- endfor -%}
  {%- set key_hash = versioned_collapsing._get_key_hash_sql(values) -%}
  {%- set version = versioned_collapsing.quote_name(comparison.options.version) -%}
  {{ versioned_collapsing._get_key_hash_sql([versioned_collapsing.quote_names(comparison.options.unique_key)]) }} in (
    select {{ key_hash }} from {{ comparison.table }} where {{ version }} > {{ position.sql }} and {{ is_in_range }}
    union all
    select {{ key_hash }}
    from {{ versioned_collapsing.get_tombstones_relation(comparison.table) }}
    where {{ version }} > {{ position.sql }} and {{ is_in_range }}
  )
{%- endmacro %}

{# The hash of a key with nulls in it is no null. #}
{% macro _get_key_hash_sql(values) %}
  {%- do return('cityHash64(tuple(' ~ values | join(', ') ~ ', 0))') -%}
{% endmacro %}

{# Creates the table of the verifications. It gets one row for each range of a cycle when the range is planned, and one
   when it is verified. #}
{% macro _create_verifications(table) %}
  {% call statement('create_verifications') -%}
    create table if not exists {{ versioned_collapsing.get_verifications_relation(table) }}
    {{ on_cluster_clause(table) }} (
      model String comment 'Name of the model',
      target_uuid UUID comment 'UUID of the table',
      invocation_id String comment 'ID of the dbt invocation',
      status LowCardinality(String) comment 'planned or verified',
      at DateTime64(6, 'UTC') comment 'When the row was written',
      cycle UInt64 comment 'Number of the cycle',
      definition String comment 'Hash of what is compared with what',
      reference String comment 'What the reference is called',
      position String comment 'Version up to which the reference is known; empty if the whole table was compared',
      apply UInt64 comment 'Number of the last apply to the table before reconcile',
      range UInt32 comment 'Number of the key range',
      ranges UInt32 comment 'Number of key ranges in the cycle',
      lower String comment 'First key of the range; empty: no bound',
      upper String comment 'First key after the range; empty: no bound',
      compared UInt64 comment 'Keys that were compared',
      missing UInt64 comment 'Keys that only the reference has',
      unexpected UInt64 comment 'Keys that only the table has',
      doubled UInt64 comment 'Keys of which the table has more rows than the reference',
      different UInt64 comment 'Keys with other values',
      later UInt64 comment 'Keys that the table has changed above the position; not compared',
      forgotten UInt64 comment 'Keys that the operation forget has removed; not compared',
      differing_keys String comment 'Some of the keys that differ'
    )
    engine = {{ versioned_collapsing.get_engine_name(table, 'MergeTree') }}
    order by (model, at)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}

{% macro _record_verified(comparison, position, range, counts_sql) %}
  {%- set names = versioned_collapsing.get_verified_names() -%}
  {% call statement('record_verified') -%}
    insert into {{ versioned_collapsing.get_verifications_relation(comparison.table) }} (
      model, target_uuid, invocation_id, status, at, cycle, definition, reference, position, apply, range, ranges,
      lower, upper, {{ names | join(', ') }}, differing_keys
    )
    select
      {{ versioned_collapsing.quote_literal(comparison.node.name) }},
      {{ versioned_collapsing.get_table_uuid_sql(comparison.table) }},
      {{ versioned_collapsing.quote_literals([invocation_id, 'verified']) }},
      now64(6, 'UTC'),
      {{ range.cycle }},
      {{ versioned_collapsing.quote_literals([range.definition, comparison.reference_text, position.text or '']) }},
      {{ position.apply }}, {{ range.number }}, {{ range.ranges }},
      {{ versioned_collapsing.quote_literals([range.lower, range.upper]) }},
      {{ names | join(', ') }},
      differing_keys
    from ({{ counts_sql }})
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}

{# The sums of the counts of two ranges. #}
{% macro _get_added_counts(total, counts) %}
  {%- set keys = [total.get('differing_keys'), counts.differing_keys] | select | join(', ') -%}
  {%- set added = {'differing_keys': keys} -%}
  {%- for name in versioned_collapsing.get_verified_names() -%}
    {%- do added.update({name: total.get(name, 0) + counts[name]}) -%}
  {%- endfor -%}
  {%- do return(added) -%}
{% endmacro %}

{% macro _get_compared_text(counts, left, at_once) %}
  {%- set text = versioned_collapsing.format_count(counts.compared, 'key') ~ ' compared'
      ~ (', ' ~ counts.later ~ ' changed since' if counts.later else '')
      ~ (', ' ~ counts.forgotten ~ ' forgotten' if counts.forgotten else '') -%}
  {%- if not at_once -%}{%- do return(text) -%}{%- endif -%}
  {%- set ranges = left[0].ranges -%}
  {%- set verified = ranges - left[at_once:] | length -%}
  {%- do return(
      text ~ '; cycle ' ~ left[0].cycle ~ ': ' ~ ('complete' if verified == ranges
      else verified ~ ' of ' ~ versioned_collapsing.format_count(ranges, 'range') ~ ' verified')
  ) -%}
{% endmacro %}

{# A difference is in the database, and in nothing that dbt compiles. #}
{% macro _validate_no_difference(comparison, counts, compared) %}
  {%- if counts.missing + counts.unexpected + counts.doubled + counts.different -%}
    {%- do exceptions.raise_database_error(
        "reconcile: " ~ comparison.table ~ " differs from " ~ comparison.reference_text ~ ": "
        ~ versioned_collapsing.format_count(counts.missing, 'key') ~ " missing, " ~ counts.unexpected ~ " unexpected, "
        ~ counts.doubled ~ " doubled, " ~ counts.different ~ " with other values; " ~ compared ~ "\n  "
        ~ counts.differing_keys
        ~ "\nFind out which side is right. If it is the reference: a full refresh, or batches that are taken again, "
        ~ "bring back what is missing or different, a delete with a higher version removes what is unexpected, and "
        ~ "`rebalance` removes what is doubled. If runs have warned of conflicts for these keys, their versions do not "
        ~ "tell the changes apart: take a version that does."
    ) -%}
  {%- endif -%}
{% endmacro %}
