{# Stages the change set in the target's types, with one change per key unless changes are combined. A change at or
   below its key's tombstone is marked. Stops the run if a value does not fit the table. Returns what
   read_staged_changes returns, and `truncate_deletes`: how many deletes a truncate has added. #}
{% macro stage_change_set(target_relation, options, columns, sql, truncate, apply) %}
  {%- set staged = versioned_collapsing.get_helper_relation(target_relation, 'input') -%}
  {%- set has_tombstones = versioned_collapsing.has_tombstones(target_relation, options, apply) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.prepare_staged_table(
      staged, versioned_collapsing.get_create_staged_changes_sql(staged, options, columns), apply
  ) -%}
  {% call statement('stage_changes') -%}
    {{ versioned_collapsing.get_stage_changes_sql(
        target_relation, staged, options, columns, sql, truncate.at, has_tombstones, apply
    ) }}
  {%- endcall %}
  {%- set found = versioned_collapsing.read_staged_changes(staged, options, columns, sql, apply) -%}
  {%- if found.rejected -%}
    {%- set rejected = versioned_collapsing.read_rejected_rows(options, columns, sql, truncate.at, apply) -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {%- do versioned_collapsing.empty_staged(target_relation, ['input']) -%}
    {%- do versioned_collapsing.validate_rows_fit(target_relation, options, rejected, apply) -%}
  {%- elif truncate.is_now -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {% call statement('stage_truncate') -%}
      {{ versioned_collapsing.get_stage_truncate_sql(target_relation, staged, options, truncate.at, apply) }}
    {%- endcall %}
    {%- set truncate_deletes = versioned_collapsing.read_row_count(staged) - found.row_count -%}
    {%- do return(dict(
        found, row_count=found.row_count + truncate_deletes, key_count=found.key_count + truncate_deletes,
        truncate_deletes=truncate_deletes
    )) -%}
  {%- endif -%}
  {%- do return(dict(found, truncate_deletes=0)) -%}
{% endmacro %}

{# How many changes are staged, of how many keys, and how many of them do not fit the table. `carried`: the number of
   rows in the change set, and the sums of the counts that the rows carry. #}
{% macro read_staged_changes(staged, options, columns, sql, apply) %}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set names = versioned_collapsing.get_carried_count_names() -%}
  {%- set query -%}
    select _dbt_staged.*, _dbt_carried.*
    from (
      select
        count() as _dbt_row_count,
        {{ 'uniqExact(' ~ key ~ ')' if columns.is_folded else 'count()' }} as _dbt_key_count,
        countIf(_dbt_problem <> '') as _dbt_rejected
      from {{ staged }}
    ) as _dbt_staged
    cross join (
      select
        {%- for name in names %}
        sum({{ versioned_collapsing._count_sql(name, columns) }}) as _dbt{{ name }},
        {%- endfor %}
        count() as _dbt_rows_read
      from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
    ) as _dbt_carried
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set carried = {'rows_read': found['_dbt_rows_read'] | int} -%}
  {%- for name in names -%}
    {%- do carried.update({name: found['_dbt' ~ name] | int}) -%}
  {%- endfor -%}
  {%- do return({
      'row_count': found['_dbt_row_count'] | int,
      'key_count': found['_dbt_key_count'] | int,
      'rejected': found['_dbt_rejected'] | int,
      'carried': carried,
  }) -%}
{% endmacro %}

{% macro get_create_staged_changes_sql(changes, options, columns) -%}
  create table {{ changes }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {%- if columns.is_folded %}
    _dbt_unset Array(LowCardinality(String)),
    _dbt_is_reset Bool,
    _dbt_batch UInt64,
    _dbt_unmerged UInt64,
    {%- endif %}
    _dbt_is_deleted Bool,
    _dbt_is_tombstoned Bool,
    _dbt_repeats_delete Bool,
    _dbt_problem LowCardinality(String)
    {{- ', _dbt_chunk UInt32' if options.chunks > 1 }}
  )
  engine = MergeTree
  {{- '\n  partition by _dbt_chunk' if options.chunks > 1 }}
  order by ({{ get_quoted_csv(options.unique_key) }})
{%- endmacro %}

{% macro get_stage_changes_sql(
    target_relation, staged, options, columns, sql, truncated_at, has_tombstones, apply
) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set names = get_quoted_csv(columns.names) ~ (', _dbt_unset, _dbt_is_reset, _dbt_batch' if columns.is_folded
      else '') -%}
  {%- set chunk = ', ' ~ versioned_collapsing.get_chunk_number_sql(options) if options.chunks > 1 else '' -%}
  insert into {{ staged }} (
    {{ names }}, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_repeats_delete, _dbt_problem
    {{- ', _dbt_chunk' if options.chunks > 1 }}
  )
  with
  {%- if options.chunks > 1 %}
  {%- set cast_sql = versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at) %}
  {{ versioned_collapsing.get_chunk_bounds_sql(options, '(' ~ cast_sql ~ ')') }},
  {%- endif %} _dbt_input as (
    {{ versioned_collapsing._get_changes_sql(options, columns, sql, truncated_at) }}
  )
  {%- if has_tombstones %},
  _dbt_tombstones as (
    {{ versioned_collapsing.get_tombstones_sql(target_relation, options) }}
  )
  {%- set marks = versioned_collapsing.get_tombstone_marks_sql(options) %}
  select {{ names }}, _dbt_is_deleted, {{ marks }}, _dbt_problem{{ chunk }}
  from _dbt_input
  left join _dbt_tombstones using ({{ key }})
  {%- else %}
  select
    {{ names }}, _dbt_is_deleted, false as _dbt_is_tombstoned, false as _dbt_repeats_delete, _dbt_problem{{ chunk }}
  from _dbt_input
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(
      apply, versioned_collapsing.get_chunk_settings() if options.chunks > 1 else {}
  ) }}
{%- endmacro %}

{# The keys at which a set of keys is cut into chunks: those of a sample. #}
{% macro get_chunk_bounds_sql(options, keys_sql) -%}
  (
    select arrayMap(
      _dbt_at -> _dbt_sample[intDiv(_dbt_at * length(_dbt_sample), {{ options.chunks }}) + 1],
      range(1, {{ options.chunks }})
    )
    from (
      select arraySort(groupArraySample(16384, 1)(tuple({{ get_quoted_csv(options.unique_key) }}))) as _dbt_sample
      from {{ keys_sql }}
    )
  ) as _dbt_bounds
{%- endmacro %}

{# The chunk of a key. Every key is in one chunk, whatever its values are. #}
{% macro get_chunk_number_sql(options) %}
  {%- set conditions = [] -%}
  {%- for number in range(1, options.chunks) -%}
    {%- do conditions.append(
        'tuple(' ~ get_quoted_csv(options.unique_key) ~ ') < _dbt_bounds[' ~ number ~ '], ' ~ number
    ) -%}
  {%- endfor -%}
  {%- do return('multiIf(' ~ conditions | join(', ') ~ ', ' ~ options.chunks ~ ')') -%}
{% endmacro %}

{# Changes are staged sorted by key and in small blocks, because an insert holds a block twice while it cuts it into
   partitions. #}
{% macro get_chunk_settings() %}
  {%- do return({
      'max_partitions_per_insert_block': 0, 'min_insert_block_size_rows': 0, 'min_insert_block_size_bytes': 8388608
  }) -%}
{% endmacro %}

{# The changes to stage: all of them if they are combined, otherwise the highest one of each key. At equal versions the
   delete wins, so that the result does not depend on how the events are split into runs: if they come in two runs, a
   delete at the live version removes the row, and its tombstone keeps the row deleted. #}
{% macro _get_changes_sql(options, columns, sql, truncated_at) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set changes = versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at) -%}
  {%- if columns.is_folded and options.chunks == 1 -%}
  {{ changes }}
  {%- elif columns.is_folded -%}
  select * from ({{ changes }}) order by {{ key }}
  {%- else -%}
  select *
  from ({{ changes }})
  order by {{ key }}, _dbt_problem desc, {{ adapter.quote(options.version) }} desc, _dbt_is_deleted desc
  limit 1 by {{ key }}
  {%- endif -%}
{%- endmacro %}

{# The change set in the target's types, with a problem for each row that does not fit them. #}
{% macro get_cast_changes_sql(options, columns, sql, truncated_at, has_examples=false) -%}
  select
    {%- for column in columns.table %}
    {{ versioned_collapsing.get_cast_sql(column) }} as {{ adapter.quote(column.name) }},
    {%- endfor %}
    {%- if columns.is_folded %}
    {{ versioned_collapsing._unset_sql(columns) }} as _dbt_unset,
    {{ versioned_collapsing._count_sql('_batch', columns) }} as _dbt_batch,
    {%- endif %}
    {%- if has_examples %}
    {{ versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version], '_dbt_given') }} as _dbt_shown,
    {%- endif %}
    {{ versioned_collapsing._flag_sql(options.is_deleted, columns) }} as _dbt_is_deleted,
    {{ versioned_collapsing._flag_sql('_reset', columns) }} as _dbt_is_reset,
    {{ versioned_collapsing.get_problem_sql(options, columns) }} as _dbt_problem
  from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
  where {{ versioned_collapsing._get_counting_changes_sql(options, columns, truncated_at) }}
{%- endmacro %}

{# The columns that a change leaves as they are stored: those that it names in `_unset`, and those that the model no
   longer has. #}
{% macro _unset_sql(columns) %}
  {%- set absent = '[' ~ versioned_collapsing.quote_literals(columns.absent) ~ ']' -%}
  {%- do return(
      "cast(arrayConcat(" ~ ("_dbt_given._unset, " if '_unset' in columns.given else '') ~ absent
      ~ "), 'Array(String)')"
  ) -%}
{% endmacro %}

{# A count that the change set carries, or 0. #}
{% macro _count_sql(name, columns) %}
  {%- do return(
      'toUInt64(ifNull(_dbt_given.' ~ adapter.quote(name) ~ ', 0))' if name in columns.given else 'toUInt64(0)'
  ) -%}
{% endmacro %}

{# A flag of the change set; false if the change set does not have it. #}
{% macro _flag_sql(name, columns) %}
  {%- do return(
      'ifNull(toBool(_dbt_given.' ~ adapter.quote(name) ~ '), false)' if name in columns.given else 'false'
  ) -%}
{% endmacro %}

{# Why a row of the change set does not fit the table; empty if it fits. The payload is not checked in deletes, nor in
   columns that a change leaves as they are stored. #}
{% macro get_problem_sql(options, columns) %}
  {%- set place, payload = [], [] -%}
  {%- for column in columns.table if column.given_type is not none -%}
    {%- set is_place = column.name in options.unique_key
        or (column.name == options.version and options.delete_version == 'respect') -%}
    {%- do (place if is_place else payload).append(column) -%}
  {%- endfor -%}
  {%- set problems = versioned_collapsing._problems_sql(place, []) -%}
  {%- set excused = versioned_collapsing._problems_sql(payload, columns.given) -%}
  {%- if excused -%}
    {%- set is_deleted = versioned_collapsing._flag_sql(options.is_deleted, columns) -%}
    {%- do problems.append('if(' ~ is_deleted ~ ', emptyArrayString(), arrayConcat(' ~ excused | join(', ') ~ '))') -%}
  {%- endif -%}
  {%- if options.delete_version == 'ignore' and '_batch' in columns.given -%}
    {%- do problems.append("if(isNull(_dbt_given._batch), ['_batch is null'], emptyArrayString())") -%}
  {%- endif -%}
  {%- do problems.extend(versioned_collapsing._control_problems_sql(columns)) -%}
  {%- do return('arrayConcat(' ~ problems | join(', ') ~ ')[1]' if problems else "''") -%}
{% endmacro %}

{# Arrays of the problems in a row, one for each pair of types. A table may have a thousand columns or more, so a
   statement says only once how two types are compared. #}
{% macro _problems_sql(table, given_names) %}
  {%- set nulls, pairs = [], {} -%}
  {%- for column in table -%}
    {%- if versioned_collapsing.is_nullable_type(column.given_type)
        and not versioned_collapsing.is_nullable_type(column.type) -%}
      {%- do nulls.append(column) -%}
    {%- endif -%}
    {%- if versioned_collapsing.get_base_type(column.given_type) != versioned_collapsing.get_base_type(column.type) -%}
      {%- do pairs.setdefault((column.given_type, column.type), []).append(column) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set is_unset = ' and not has(_dbt_given._unset, _dbt_name)' if '_unset' in given_names else '' -%}
  {%- set problems = [] -%}
  {%- if nulls -%}
    {%- do problems.append(versioned_collapsing._named_problems_sql(
        nulls, ' is null', ['isNull({})'], '_dbt_value' ~ is_unset
    )) -%}
  {%- endif -%}
  {%- for (given_type, type), alike in pairs.items() -%}
    {%- set cast = versioned_collapsing.get_cast_or_null_sql('{}', given_type, type, 1) -%}
    {%- set fits = versioned_collapsing.get_fits_sql('_dbt_value', '_dbt_cast', given_type, type, 1) -%}
    {%- do problems.append(versioned_collapsing._named_problems_sql(
        alike,
        ' does not fit ' ~ type,
        ['{}', cast],
        'isNotNull(_dbt_value) and not ifNull(' ~ fits ~ ', false)' ~ is_unset
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# An array of the problems with columns that share one condition over `_dbt_value`, `_dbt_cast` and `_dbt_name`. #}
{% macro _named_problems_sql(table, problem, templates, condition) %}
  {%- set arrays = [] -%}
  {%- for template in templates -%}
    {%- set values = [] -%}
    {%- for column in table -%}
      {%- do values.append(template | replace('{}', '_dbt_given.' ~ adapter.quote(column.name))) -%}
    {%- endfor -%}
    {%- do arrays.append('[' ~ values | join(', ') ~ ']') -%}
  {%- endfor -%}
  {%- set arguments = ['_dbt_name', '_dbt_value', '_dbt_cast'][: templates | length + 1] | join(', ') -%}
  {%- set names = '[' ~ versioned_collapsing.quote_literals(table | map(attribute='name')) ~ ']' -%}
  {%- do return(
      'arrayMap(_dbt_name -> _dbt_name || ' ~ versioned_collapsing.quote_literal(problem) ~ ', arrayFilter(('
      ~ arguments
      ~ ') -> ' ~ condition ~ ', ' ~ names ~ ', ' ~ arrays | join(', ') ~ '))'
  ) -%}
{% endmacro %}

{# The problems with control columns: a name in `_unset` that is not a column, and a count below zero. #}
{% macro _control_problems_sql(columns) %}
  {%- set problems = [] -%}
  {%- if '_unset' in columns.given -%}
    {%- set names = (columns.names + columns.given) | unique(case_sensitive=true) -%}
    {%- set known = '[' ~ versioned_collapsing.quote_literals(names) ~ ']' -%}
    {%- do problems.append(
        "arrayMap(_dbt_name -> '_unset names ' || _dbt_name || ', which is not a column', "
        ~ 'arrayFilter(_dbt_name -> not has(' ~ known ~ ', _dbt_name), _dbt_given._unset))'
    ) -%}
  {%- endif -%}
  {%- for name in versioned_collapsing.get_carried_count_names() + ['_batch'] if name in columns.given -%}
    {%- set count = '_dbt_given.' ~ adapter.quote(name) -%}
    {%- do problems.append(
        'if(ifNull(' ~ count ~ ' < 0, false), [' ~ versioned_collapsing.quote_literal(name ~ ' is below zero')
        ~ '], emptyArrayString())'
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The condition that a row is a change that counts: it is no truncate, and no truncate overrides it. #}
{% macro _get_counting_changes_sql(options, columns, truncated_at) -%}
  {%- set conditions = [] -%}
  {%- if '_is_truncate' in columns.given -%}
    {%- do conditions.append('not ' ~ versioned_collapsing._flag_sql('_is_truncate', columns)) -%}
  {%- endif -%}
  {%- if truncated_at -%}
    {%- set or_deleted = ' or _dbt_is_deleted' if options.delete_version == 'ignore' else '' -%}
    {%- set is_above = adapter.quote(options.version) ~ ' > ' ~ truncated_at -%}
    {%- do conditions.append("(_dbt_problem <> ''" ~ or_deleted ~ ' or ' ~ is_above ~ ')') -%}
  {%- endif -%}
  {{ conditions | join(' and ') or 'true' }}
{%- endmacro %}

{# The problems of rows of the change set. Each comes with the number of its rows, and with keys and versions of some of
   them as they are in the change set. #}
{% macro read_rejected_rows(options, columns, sql, truncated_at, apply) %}
  {%- set changes = versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at, true) -%}
  {%- set query -%}
    select
      _dbt_problem,
      count() as _dbt_n,
      arrayStringConcat(groupArray(3)(_dbt_shown), ', ') as _dbt_sample
    from ({{ changes }})
    where _dbt_problem <> ''
    group by _dbt_problem
    order by _dbt_n desc
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set rejected = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do rejected.append({'problem': row['_dbt_problem'], 'n': row['_dbt_n'], 'sample': row['_dbt_sample']}) -%}
  {%- endfor -%}
  {%- do return(rejected) -%}
{% endmacro %}

{# Stops the run if rows of the change set do not fit the table. The error counts them, says why, and shows some of
   them. #}
{% macro validate_rows_fit(target_relation, options, rejected, apply) %}
  {%- set key_and_version = (options.unique_key + [options.version]) | join(', ') -%}
  {%- set lines = [] -%}
  {%- for row in rejected -%}
    {%- set examples = ". Examples (" ~ key_and_version ~ "): " ~ row.sample if row.sample else "" -%}
    {%- do lines.append(versioned_collapsing.format_count(row.n, 'row') ~ ": " ~ row.problem ~ examples) -%}
  {%- endfor -%}
  {%- if lines -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The change set of " ~ versioned_collapsing.get_final_name(target_relation)
        ~ " has rows that do not fit the table. Nothing was written.\n  - " ~ lines | join("\n  - ")
        ~ "\nCorrect them upstream, quarantine them, or declare a wider data_type."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Deletes of every live row at or below the version at which the table was truncated, unless a change above
   it is staged already. #}
{% macro get_stage_truncate_sql(target_relation, staged, options, truncated_at, apply) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set has_chunks = options.chunks > 1 -%}
  insert into {{ staged }} ({{ key }}, {{ adapter.quote(options.version) }}, _dbt_is_deleted
    {{- ', _dbt_chunk' if has_chunks }})
  {{- '\n  with ' ~ versioned_collapsing.get_chunk_bounds_sql(options, target_relation) if has_chunks }}
  select distinct {{ key }}, {{ truncated_at }} as _dbt_truncated_at, true as _dbt_goes
    {{- ', ' ~ versioned_collapsing.get_chunk_number_sql(options) if has_chunks }}
  from {{ target_relation }} final
  where {{ adapter.quote(options.sign) }} = 1
    and {{ adapter.quote(options.version) }} <= {{ truncated_at }}
    and ({{ key }}) not in (select {{ key }} from {{ staged }})
  {{ versioned_collapsing.get_settings_sql(apply, dict(
      versioned_collapsing.get_chunk_settings() if has_chunks else {}, do_not_merge_across_partitions_select_final=1
  )) }}
{%- endmacro %}

{# While an apply runs, rows may land and merges may remove rows. If several statements must see the same rows, the
   select is read once into a staged table. This is necessary in three cases: the ledger must record how far a landing
   table was really read (`_watermark`); a truncate that is staged must also be carried out (`_is_truncate`); signed
   rows must be checked before they are written. The rows of a `change_set` model do not change, so only the first case
   applies to them. Returns the select of the rows, the watermarks, and the staged tables to empty. #}
{% macro stage_landed_rows(target_relation, options, given, sql, manifest, apply) %}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set has_watermark = '_watermark' in names -%}
  {%- if not has_watermark
      and (manifest.exists or '_is_truncate' not in names and options.old_state != 'stream') -%}
    {%- do return({'sql': sql, 'watermarks': [], 'roles': []}) -%}
  {%- endif -%}
  {%- set landed = versioned_collapsing.get_helper_relation(target_relation, 'read') -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.prepare_staged_table(
      landed, versioned_collapsing.get_create_landed_sql(landed, given), apply
  ) -%}
  {% call statement('stage_landed_rows') -%}
    {{ versioned_collapsing.get_stage_landed_sql(landed, given, sql, apply) }}
  {%- endcall %}
  {%- set watermarks = versioned_collapsing._read_watermarks(landed, given) if has_watermark else [] -%}
  {%- do return({'sql': 'select * from ' ~ landed, 'watermarks': watermarks, 'roles': ['read']}) -%}
{% endmacro %}

{# A column with only nulls has the type Nothing, which no table can have. A comparison of a LowCardinality(String) has
   the type LowCardinality(UInt8). ClickHouse forbids it in tables, like any LowCardinality that is not of strings. #}
{% macro get_create_landed_sql(landed, given) -%}
  create table {{ landed }} (
    {%- for column in given %}
    {%- set type = modules.re.sub("(?<!')\\bNothing\\b(?!')", 'UInt8', column.type) %}
    {%- set type = modules.re.sub(
        'LowCardinality\\((?!(?:Nullable\\()?(?:Fixed)?String)((?:[^()]|\\([^()]*\\))*)\\)', '\\1', type
    ) %}
    {{ versioned_collapsing.quote_name(column.name) }} {{ type }}{{ ',' if not loop.last }}
    {%- endfor %}
  )
  engine = MergeTree
  order by tuple()
{%- endmacro %}

{% macro get_stage_landed_sql(landed, given, sql, apply) -%}
  insert into {{ landed }} ({{ versioned_collapsing.quote_names(given | map(attribute='name')) }})
  select * from {{ versioned_collapsing.get_subquery_sql(sql) }}
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}

{% macro _read_watermarks(landed, given) %}
  {%- set type = (given | selectattr('name', 'equalto', '_watermark') | first).type -%}
  {%- set has_landing = '_landing' in given | map(attribute='name') -%}
  {%- set watermarks = [] -%}
  {%- for row in run_query(versioned_collapsing.get_watermarks_sql(landed, type, has_landing)).rows -%}
    {%- do watermarks.append((row['_dbt_landing'], row['_dbt_uuid'], row['_dbt_watermark'])) -%}
  {%- endfor -%}
  {%- do return(watermarks) -%}
{% endmacro %}

{# How far each landing table was read. A time is kept in UTC. #}
{% macro get_watermarks_sql(landed, type, has_landing) -%}
  {%- set base = versioned_collapsing.get_utc_type(versioned_collapsing.get_base_type(type)) -%}
  select
    {{ '_landing.1' if has_landing else "''" }} as _dbt_landing,
    toString({{ '_landing.2' if has_landing else "toUUID('00000000-0000-0000-0000-000000000000')" }}) as _dbt_uuid,
    toString(cast(assumeNotNull(max(_watermark)), {{ versioned_collapsing.quote_literal(base) }})) as _dbt_watermark
  from {{ landed }}
  where isNotNull(_watermark)
  group by _dbt_landing, _dbt_uuid
  order by _dbt_landing, _dbt_uuid
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# The version up to which the table was truncated.

   - at: an expression for the version, or none. It comes from the change set, or from an earlier one that the ledger
     names
   - is_now: whether the change set has a truncate
   - count: how many truncates it has #}
{% macro read_truncate(options, columns, sql, ledger, apply) %}
  {%- set known = versioned_collapsing.get_version_sql(ledger.truncated_at, options, columns)
      if ledger.truncated_at else none -%}
  {%- if '_is_truncate' not in columns.given -%}
    {%- do return({'at': known, 'is_now': false, 'count': 0}) -%}
  {%- endif -%}
  {%- set column = versioned_collapsing.get_version_column(options, columns) -%}
  {%- set found = run_query(versioned_collapsing._get_truncates_sql(column, columns, sql, apply)).rows[0] -%}
  {%- do versioned_collapsing.validate_truncates(found['_dbt_without_version'] | int, column, apply) -%}
  {%- if not found['_dbt_n'] | int -%}
    {%- do return({'at': known, 'is_now': false, 'count': 0}) -%}
  {%- endif -%}
  {%- set now = versioned_collapsing.get_version_sql(found['_dbt_version'], options, columns) -%}
  {%- do return({
      'at': 'greatest(' ~ known ~ ', ' ~ now ~ ')' if known else now,
      'is_now': true,
      'count': found['_dbt_n'] | int,
  }) -%}
{% endmacro %}

{# A version that was kept as text. A time is kept in UTC: in other time zones, an hour can occur twice. #}
{% macro get_version_sql(text, options, columns) %}
  {%- set column = versioned_collapsing.get_version_column(options, columns) -%}
  {%- do return(
      'cast(' ~ versioned_collapsing.quote_literal(text) ~ ', '
      ~ versioned_collapsing.quote_literal(versioned_collapsing.get_utc_type(column.type)) ~ ')'
  ) -%}
{% endmacro %}

{% macro _get_truncates_sql(column, columns, sql, apply) -%}
  {%- set type = versioned_collapsing.quote_literal(versioned_collapsing.get_utc_type(column.type)) -%}
  select
    countIf(_dbt_is_truncate) as _dbt_n,
    countIf(_dbt_is_truncate and isNull(_dbt_at_version)) as _dbt_without_version,
    toString(cast(maxIf(assumeNotNull(_dbt_at_version), _dbt_is_truncate), {{ type }})) as _dbt_version
  from (
    select
      {{ versioned_collapsing._flag_sql('_is_truncate', columns) }} as _dbt_is_truncate,
      {{ versioned_collapsing.get_fitting_sql(column) }} as _dbt_at_version
    from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
  )
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}

{# A truncate needs the version up to which it removes rows. #}
{% macro validate_truncates(without_version, column, apply) %}
  {%- if without_version -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The change set of " ~ apply.model ~ " has " ~ versioned_collapsing.format_count(without_version, 'row')
        ~ " with _is_truncate whose " ~ column.name ~ " is null or does not fit " ~ column.type
        ~ ". Nothing was written. A truncate needs the version up to which it removes rows. Correct it upstream."
    ) -%}
  {%- endif -%}
{% endmacro %}
