{# Compares one key range after another with a reference, until it has compared the whole table: a cycle. Each run
   continues where the last one ended. `position` is the version up to which the reference is known; keys that the table
   has changed above it are skipped. A difference is an error, so that the exit code shows it. #}
{% macro verify(model, reference, columns=none, position=none, ranges=16, at_once=1, show=20) %}
  {%- set comparison = versioned_collapsing.read_comparison('verify', model, reference, columns) -%}
  {%- do versioned_collapsing.validate_ranges(ranges, at_once) -%}
  {%- do versioned_collapsing.prepare_ledger(comparison.table) -%}
  {%- set position = versioned_collapsing.read_position(comparison, position) -%}
  {%- do versioned_collapsing.validate_position(comparison, position) -%}
  {%- do versioned_collapsing.create_verifications(comparison.table) -%}
  {%- set keys = versioned_collapsing.get_range_keys(comparison) -%}
  {%- set definition = versioned_collapsing.get_cycle_definition(comparison, keys, position, ranges) -%}
  {%- set left = versioned_collapsing.read_ranges_left(comparison, definition) -%}
  {%- if not left -%}
    {%- do versioned_collapsing.plan_cycle(comparison, keys, definition, ranges) -%}
    {%- set left = versioned_collapsing.read_ranges_left(comparison, definition) -%}
  {%- endif -%}
  {%- set total = namespace(counts={}) -%}
  {%- for range in left[:at_once] -%}
    {%- set counts = versioned_collapsing.verify_range(comparison, keys, position, range, show) -%}
    {%- set total.counts = versioned_collapsing.get_added_verified_counts(total.counts, counts) -%}
  {%- endfor -%}
  {%- set done = versioned_collapsing.read_cycle(comparison, left[0].cycle) -%}
  {%- do versioned_collapsing.validate_no_fault(comparison, total.counts, done) -%}
  {%- do log(versioned_collapsing.get_verified_message(comparison, total.counts, done), info=true) -%}
  {%- do return(total.counts) -%}
{% endmacro %}


{% macro validate_ranges(ranges, at_once) %}
  {%- if ranges is not integer or not 1 <= ranges <= 10000 -%}
    {%- do exceptions.raise_compiler_error(
        "verify: ranges is " ~ tojson(ranges) ~ ". It is a number from 1 to 10000."
    ) -%}
  {%- elif at_once is not integer or at_once < 1 -%}
    {%- do exceptions.raise_compiler_error("verify: at_once is " ~ tojson(at_once) ~ ". It is a number from 1 on.") -%}
  {%- endif -%}
{% endmacro %}


{# The version up to which the reference is known, and what else decides whether the table can be compared there:

   - text, sql: the version, none if the whole table is compared
   - type: the type of the table's versions
   - is_version: whether the position is a value of this type
   - truncated_at, is_truncated: the version at which the table was emptied, and whether it is above the position
   - apply: number of the table's last apply
   - timezone: of the session #}
{% macro read_position(comparison, position) %}
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
{% macro validate_position(comparison, position) %}
  {%- set model = comparison.node.name -%}
  {%- if not position.is_version -%}
    {%- do exceptions.raise_compiler_error(
        "verify: position is '" ~ position.text ~ "', but the versions of " ~ model ~ " are " ~ position.type
        ~ ". Give a position of this type."
    ) -%}
  {%- elif position.sql and (comparison.options.old_state == 'stream' or not comparison.options.remember_deletes) -%}
    {%- do exceptions.raise_compiler_error(
        "verify: " ~ model ~ " does not remember deletes, so a key that was deleted above position " ~ position.text
        ~ " would be taken for a lost one. Compare with a reference as new as the table, without `position`."
    ) -%}
  {%- elif position.is_truncated -%}
    {%- do exceptions.raise_compiler_error(
        "verify: " ~ model ~ " was truncated at version " ~ position.truncated_at ~ ", above position "
        ~ position.text ~ ". Compare with a reference that is as new as that."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The columns of the key by which ranges are cut, on both sides. It is the column itself if an index or another
   database can use it, and otherwise the value that is compared. #}
{% macro get_range_keys(comparison) %}
  {%- set keys = {'live': [], 'true': []} -%}
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
    {%- do keys.true.append({
        'type': type,
        'is_nullable': is_text or not is_same or 'Nullable(' in column.given_type,
        'sql': quoted if is_same and not is_text else versioned_collapsing.get_true_value_sql(column),
    }) -%}
  {%- endfor -%}
  {%- do return(keys) -%}
{% endmacro %}


{# A hash that two runs of one cycle share. It covers the reference, the columns, how the keys are cut into ranges, and
   the time zone of the session, in which texts of times are read. #}
{% macro get_cycle_definition(comparison, keys, position, ranges) %}
  {%- do return(local_md5(tojson([
      comparison.reference, comparison.columns.values() | list, keys.live | map(attribute='sql') | list, ranges,
      position.timezone
  ]))) -%}
{% endmacro %}


{# The ranges of the last cycle that are not verified; none if that cycle is complete, or has another definition. #}
{% macro read_ranges_left(comparison, definition) %}
  {%- set left = [] -%}
  {%- for row in run_query(versioned_collapsing.get_ranges_left_sql(comparison, definition)).rows -%}
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


{% macro get_ranges_left_sql(comparison, definition) -%}
  {%- set verifications = versioned_collapsing.get_verifications_relation(comparison.table) -%}
  {%- set is_of_table = versioned_collapsing.get_is_verification_sql(comparison) -%}
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
{%- endmacro %}


{# Begins a cycle: cuts the keys of the table into ranges with about the same number of rows. #}
{% macro plan_cycle(comparison, keys, definition, ranges) %}
  {% call statement('plan_cycle') -%}
    {{ versioned_collapsing.get_plan_cycle_sql(comparison, keys.live, definition, ranges) }}
  {%- endcall %}
{% endmacro %}


{# The bounds are keys of a sample. The first range has no lower bound and the last range has no upper one, so that each
   key of the reference is in a range. #}
{% macro get_plan_cycle_sql(comparison, keys, definition, ranges) -%}
  {%- set verifications = versioned_collapsing.get_verifications_relation(comparison.table) -%}
  {%- set keys_sql = keys | map(attribute='sql') | join(', ') -%}
  insert into {{ verifications }} (
    model, target_uuid, invocation_id, status, at, cycle, definition, reference, range, ranges, lower, upper
  )
  with
    (
      select arraySort(groupArraySample(65536, 1)(tuple({{ keys_sql }})))
      from {{ comparison.table }}
      where not has([{{ versioned_collapsing._get_is_null_sql(keys) }}], true)
    ) as _dbt_sample,
    arrayDistinct(arrayMap(
      _dbt_at -> _dbt_sample[intDiv(_dbt_at * length(_dbt_sample), {{ ranges }}) + 1],
      range(1, toUInt64({{ ranges }}))
    )) as _dbt_cuts,
    arrayMap(_dbt_cut -> toString(_dbt_cut), _dbt_cuts) as _dbt_bounds
  select
    {{ versioned_collapsing.quote_literal(comparison.node.name) }},
    {{ versioned_collapsing.get_table_uuid_sql(comparison.table) }},
    {{ versioned_collapsing.quote_literal(invocation_id) }},
    'planned',
    now64(6, 'UTC'),
    (
      select max(cycle) + 1
      from {{ verifications }}
      where {{ versioned_collapsing.get_is_verification_sql(comparison) }}
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
{%- endmacro %}


{% macro _get_is_null_sql(keys) %}
  {%- set conditions = [] -%}
  {%- for key in keys -%}{%- do conditions.append('isNull(' ~ key.sql ~ ')') -%}{%- endfor -%}
  {%- do return(conditions | join(', ')) -%}
{% endmacro %}


{# Compares a range, and records what was found. #}
{% macro verify_range(comparison, keys, position, range, show) %}
  {%- set is_live_in = versioned_collapsing.get_is_in_range_sql(keys.live, range) -%}
  {%- set is_true_in = versioned_collapsing.get_is_in_range_sql(keys.true, range) -%}
  {%- set rows = versioned_collapsing.get_compared_rows_sql(comparison, is_live_in, is_true_in) -%}
  {%- set is_later = versioned_collapsing.get_is_later_sql(comparison, position, is_live_in) -%}
  {%- set found = run_query(versioned_collapsing.get_verified_counts_sql(comparison, rows, is_later, show)).rows[0] -%}
  {%- set counts = {'differing_keys': found['differing_keys']} -%}
  {%- for name in versioned_collapsing.get_verified_names() -%}
    {%- do counts.update({name: found[name] | int}) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.record_verified(comparison, position, range, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}


{# The condition that a key is in a range: at or above `lower`, and below `upper`. Every key is in exactly one range: if
   a null makes a comparison unknown, both conditions take the key to be below the bound. #}
{% macro get_is_in_range_sql(keys, range) %}
  {%- set conditions = ['true'] -%}
  {%- if range.number > 1 -%}
    {%- do conditions.append(versioned_collapsing._get_is_from_sql(keys, range.lower)) -%}
  {%- endif -%}
  {%- if range.number < range.ranges -%}
    {%- do conditions.append(versioned_collapsing._get_is_below_sql(keys, range.upper)) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ')) -%}
{% endmacro %}


{% macro _get_is_from_sql(keys, bound) %}
  {%- set first = versioned_collapsing._get_first_of_bound_sql(keys, bound) -%}
  {%- if keys | selectattr('is_nullable') | list -%}
    {%- do return(
        'ifNull(' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' >= '
        ~ versioned_collapsing._get_key_bound_sql(keys, bound) ~ ', false)'
    ) -%}
  {%- elif keys | length == 1 -%}
    {%- do return(keys[0].sql ~ ' >= ' ~ first) -%}
  {%- endif -%}
  {%- do return(
      keys[0].sql ~ ' >= ' ~ first ~ ' and ' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' >= '
      ~ versioned_collapsing._get_key_bound_sql(keys, bound)
  ) -%}
{% endmacro %}


{% macro _get_first_of_bound_sql(keys, bound) %}
  {%- do return('tupleElement(' ~ versioned_collapsing._get_key_bound_sql(keys, bound) ~ ', 1)') -%}
{% endmacro %}


{# A bound is the text of a tuple. #}
{% macro _get_key_bound_sql(keys, bound) %}
  {%- set type = 'Tuple(' ~ keys | map(attribute='type') | join(', ') ~ ')' -%}
  {%- do return(
      'cast(' ~ versioned_collapsing.quote_literal(bound) ~ ', ' ~ versioned_collapsing.quote_literal(type) ~ ')'
  ) -%}
{% endmacro %}


{% macro _get_key_tuple_sql(keys) %}
  {%- do return('tuple(' ~ keys | map(attribute='sql') | join(', ') ~ ')') -%}
{% endmacro %}


{% macro _get_is_below_sql(keys, bound) %}
  {%- set first = versioned_collapsing._get_first_of_bound_sql(keys, bound) -%}
  {%- if keys | selectattr('is_nullable') | list -%}
    {%- do return(
        'not ifNull(' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' >= '
        ~ versioned_collapsing._get_key_bound_sql(keys, bound) ~ ', false)'
    ) -%}
  {%- elif keys | length == 1 -%}
    {%- do return(keys[0].sql ~ ' < ' ~ first) -%}
  {%- endif -%}
  {%- do return(
      keys[0].sql ~ ' <= ' ~ first ~ ' and ' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' < '
      ~ versioned_collapsing._get_key_bound_sql(keys, bound)
  ) -%}
{% endmacro %}


{# The condition that the table has changed a key above the position: it has stored rows or a tombstone of the key
   there. #}
{% macro get_is_later_sql(comparison, position, is_in_range) -%}
  {%- if not position.sql -%}{%- do return('false') -%}{%- endif -%}
  {%- set values = [] -%}
  {%- for name in comparison.options.unique_key -%}
    {%- do values.append(versioned_collapsing.get_live_value_sql(comparison.columns[name])) -%}
  {%- endfor -%}
  {%- set key_hash = versioned_collapsing.get_key_hash_sql(values) -%}
  {%- set version = versioned_collapsing.quote_name(comparison.options.version) -%}
  _dbt_key_hash in (
    select {{ key_hash }} from {{ comparison.table }} where {{ version }} > {{ position.sql }} and {{ is_in_range }}
    union all
    select {{ key_hash }}
    from {{ versioned_collapsing.get_tombstones_relation(comparison.table) }}
    where {{ version }} > {{ position.sql }} and {{ is_in_range }}
  )
{%- endmacro %}


{% macro get_verified_counts_sql(comparison, rows, is_later, show) -%}
  {%- set unique_key = comparison.options.unique_key -%}
  select
    countIf(_dbt_kind <> 'later') as compared,
    {%- for name in versioned_collapsing.get_verified_names()[1:] %}
    countIf(_dbt_kind = {{ versioned_collapsing.quote_literal(name) }}) as {{ name }},
    {%- endfor %}
    arrayStringConcat(
      arraySort(groupArrayIf({{ show }})(concat(_dbt_kind, ' ', _dbt_shown), _dbt_kind not in ('same', 'later'))), ', '
    ) as differing_keys
  from (
    select
      _dbt_shown,
      multiIf(
        {{ is_later }}, 'later',
        _dbt_is_same, 'same',
        _dbt_live_rows = 0, 'missing',
        _dbt_true_rows = 0, 'unexpected',
        _dbt_live_rows > _dbt_true_rows, 'doubled',
        'different'
      ) as _dbt_kind
    from ({{ versioned_collapsing.get_compared_keys_sql(rows, unique_key, 'true') }})
  )
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# The sums of the counts of two ranges. #}
{% macro get_added_verified_counts(total, counts) %}
  {%- set keys = [total.get('differing_keys'), counts.differing_keys] | select | join(', ') -%}
  {%- set added = {'differing_keys': keys} -%}
  {%- for name in versioned_collapsing.get_verified_names() -%}
    {%- do added.update({name: total.get(name, 0) + counts[name]}) -%}
  {%- endfor -%}
  {%- do return(added) -%}
{% endmacro %}


{# A difference is an error, so that the exit code shows it. #}
{% macro validate_no_fault(comparison, counts, cycle) %}
  {%- if counts.missing + counts.unexpected + counts.doubled + counts.different -%}
    {%- do exceptions.raise_database_error(
        "verify: " ~ versioned_collapsing.get_verified_message(comparison, counts, cycle) ~ "\n  "
        ~ counts.differing_keys
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro get_verified_message(comparison, counts, cycle) %}
  {%- set later = versioned_collapsing.format_count(counts.later, 'key') ~ ' changed since; ' -%}
  {%- set state = 'complete' if cycle.verified == cycle.ranges
      else cycle.verified ~ ' of ' ~ versioned_collapsing.format_count(cycle.ranges, 'range') ~ ' verified' -%}
  {%- do return(
      comparison.table ~ ' beside ' ~ comparison.reference_text ~ ': '
      ~ versioned_collapsing.format_count(counts.compared, 'key') ~ ' compared, '
      ~ counts.missing ~ ' missing, ' ~ counts.unexpected ~ ' unexpected, ' ~ counts.doubled ~ ' doubled, '
      ~ counts.different ~ ' with other values; ' ~ (later if counts.later else '')
      ~ 'cycle ' ~ cycle.cycle ~ ': ' ~ state
  ) -%}
{% endmacro %}
