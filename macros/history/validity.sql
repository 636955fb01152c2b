{# Every state of each key, with the versions at which it begins and ends (SCD type 2), for `from`: the change set of a
   model whose key is that of the source and `valid_from`. `changes` has all changes of the source: a relation or a
   select.

   A change is a point in the history of its key. An upsert begins a state there, a delete or a truncate begins none. A
   state ends at the next point. So a run takes the points of the keys that change, those of the table and those that
   come, and writes the states that are new or end at another point.

   A new point can only bring the end of a state forward. So the end with all its bits inverted is a version that grows;
   while there is no end, it is the lowest one. The table is then the same in whatever order the changes come, and
   however they are split into runs. Changes that come twice are duplicates. Of two changes of a key with one version
   and different values, the first one stays, and the other one is a conflict.

   A delete is written as a state that ends where it begins: it is a delete of the model, which its tombstones remember.
   So is a truncate, for a key whose columns have the defaults of their types. Its `_version` is one higher, which tells
   it from a delete. #}
{% macro validity(changes) -%}
  {%- if not execute -%}{%- do return('(select 1 as unread)') -%}{%- endif -%}
  {%- set changes = changes if changes is string else 'select * from ' ~ changes -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(model.config, model) -%}
  {%- set found = {} if should_full_refresh() else versioned_collapsing.read_tables_beside(this) -%}
  {%- set columns = versioned_collapsing._get_validity_columns(
      options,
      versioned_collapsing.read_query_columns(changes),
      versioned_collapsing.read_table_columns(this) if this.identifier in found else [],
      versioned_collapsing.read_declared_types(model)
  ) -%}
  {%- do versioned_collapsing.validate_validity(model.unique_id, options, columns) -%}
  {{ versioned_collapsing.get_subquery_sql(
      versioned_collapsing.get_validity_sql(this, options, columns, changes, found)
  ) }}
{%- endmacro %}

{# The columns of the changes.

   - given: their types by name; stored: the types of the table's columns
   - key, payload: names; carried: the names of the counts, the watermark and its landing table
   - version_type: the type of `valid_from` and `valid_to`; end_type: of the end of a state as a version #}
{% macro _get_validity_columns(options, given, stored, declared) %}
  {%- set types = {'given': {}, 'stored': {}} -%}
  {%- for column in given -%}{%- do types.given.update({column.name: column.type}) -%}{%- endfor -%}
  {%- for column in stored -%}{%- do types.stored.update({column.name: column.type}) -%}{%- endfor -%}
  {%- set key = options.unique_key | reject('equalto', 'valid_from') | list -%}
  {%- set control = versioned_collapsing.get_control_columns(options) -%}
  {%- set carried = versioned_collapsing.get_carried_count_names() + ['_watermark', '_landing'] -%}
  {%- set version_type = declared.valid_from or types.stored.valid_from
      or versioned_collapsing.get_base_type(types.given[options.version] | default('')) -%}
  {%- do return(dict(
      types,
      key=key,
      payload=types.given | reject('in', control + key + [options.version]) | list,
      carried=carried | select('in', types.given) | list,
      version_type=version_type,
      end_type=version_type if 'Int' in version_type
          else 'Int128' if version_type.startswith('DateTime64') else 'Int64',
  )) -%}
{% endmacro %}

{% macro validate_validity(unique_id, options, columns) %}
  {%- set problems = [] -%}
  {%- set added = ['valid_from', 'valid_to', 'is_current'] | select('in', columns.given) | list -%}
  {%- set missing = (columns.key + [options.version]) | reject('in', columns.given) | list -%}
  {%- if 'valid_from' not in options.unique_key or not columns.key -%}
    {%- do problems.append(
        "unique_key is " ~ options.unique_key | join(', ') ~ ". Set it to the key of the source and valid_from."
    ) -%}
  {%- endif -%}
  {%- if missing -%}
    {%- do problems.append(
        "the changes have no column " ~ missing | join(', ') ~ ". They have " ~ columns.given | join(', ') ~ "."
    ) -%}
  {%- elif not modules.re.fullmatch('U?Int\\d+|Date.*', columns.version_type) -%}
    {%- do problems.append(
        options.version ~ " is " ~ columns.version_type ~ ". Declare the data_type of valid_from: an integer, a date "
        ~ "or a time."
    ) -%}
  {%- endif -%}
  {%- if added -%}
    {%- do problems.append(
        "the changes have " ~ added | join(', ') ~ ", and `validity` adds columns of this name. Rename them."
    ) -%}
  {%- endif -%}
  {%- for name, only in {'combine': {}, 'delete_version': 'respect', 'old_state': 'lookup'}.items()
      if options[name] != only -%}
    {%- do problems.append(name ~ " cannot be set: a state is what one change has. Remove it.") -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(unique_id, problems, 'validity') -%}
{% endmacro %}

{# The changes, the keys that they touch, the points of these keys, one row for each key and version (a moment), each
   with the next one, and the states to write. If a state ends at another point, it keeps its stored columns. #}
{% macro get_validity_sql(table, options, columns, changes, found) -%}
  {%- set key = versioned_collapsing.quote_names(columns.key) %}
  with _dbt_changes as (
    {{ versioned_collapsing._get_changes_as_points_sql(options, columns, changes) }}
  ),
  {{ versioned_collapsing._get_touched_keys_sql(table, options, columns, found) }},
  _dbt_moments as (
    select
      {{ key }},
      _dbt_at,
      countIf(_dbt_is_change) as _dbt_changes_here,
      max(_dbt_is_end) as _dbt_ends,
      max(_dbt_is_truncate) as _dbt_truncates,
      max(_dbt_is_stored) as _dbt_has_stored,
      anyIf(_dbt_stored_version, _dbt_is_stored) as _dbt_was,
      anyIf(_dbt_state, _dbt_is_stored) as _dbt_stored,
      argMaxIf(_dbt_state, cityHash64(_dbt_state), _dbt_is_change and not _dbt_is_end) as _dbt_given,
      groupUniqArrayIf(cityHash64(_dbt_state), _dbt_is_change and not _dbt_is_end) as _dbt_hashes
      {%- for name in columns.carried %},
      {{ {'_watermark': 'max(_watermark)', '_landing': 'argMax(_landing, _watermark)'}.get(name, 'sum(' ~ name ~ ')') }}
        as _dbt{{ name }}
      {%- endfor %}
    from ({{ versioned_collapsing._get_points_sql(table, options, columns, found) }})
    group by {{ key }}, _dbt_at
  ),
  _dbt_states as (
    select
      *,
      leadInFrame(toNullable(_dbt_at)) over (
        partition by {{ key }} order by _dbt_at rows between current row and unbounded following
      ) as _dbt_next,
      {{ versioned_collapsing._get_end_version_sql('if(_dbt_ends, _dbt_at, _dbt_next)', columns) }} as _dbt_is,
      _dbt_has_stored and (_dbt_ends or _dbt_is <> _dbt_was) as _dbt_is_moved,
      _dbt_is_moved and not _dbt_ends as _dbt_is_kept,
      if(_dbt_is_kept and _dbt_changes_here > 0, [cityHash64(_dbt_stored)], []) as _dbt_kept,
      greatest(length(arrayDistinct(arrayConcat(_dbt_hashes, _dbt_kept))), 1) - 1 as _dbt_conflicts_here,
      toUInt8(_dbt_is_kept or _dbt_changes_here = 0) as _dbt_is_synthetic
    from _dbt_moments
  )
  select
    {{ key }},
    {%- for name in columns.payload %}
    tupleElement(if(_dbt_is_kept, _dbt_stored, _dbt_given), {{ loop.index + 1 }})
      as {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    _dbt_at as valid_from,
    if(_dbt_ends, null, _dbt_next) as valid_to,
    isNull(_dbt_next) as is_current,
    cast(_dbt_is + toUInt8(_dbt_truncates), '{{ columns.end_type }}')
      as {{ versioned_collapsing.quote_name(options.version) }},
    _dbt_ends as {{ versioned_collapsing.quote_name(options.is_deleted) }},
    {%- for name in ('_watermark', '_landing', '_superseded') if name in columns.carried %}
    _dbt{{ name }} as {{ name }},
    {%- endfor %}
    {%- for name, here in {
        '_duplicates': '_dbt_changes_here - _dbt_conflicts_here - 1 + _dbt_is_synthetic',
        '_conflicts': '_dbt_conflicts_here',
        '_synthetic': '_dbt_is_synthetic',
    }.items() %}
    {{ '_dbt' ~ name ~ ' + ' if name in columns.carried }}{{ here }} as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from _dbt_states
  where _dbt_changes_here > 0 or _dbt_is_moved
{%- endmacro %}

{# The changes, each with its state. A truncate gets a key. The state of a partial change is not known. #}
{% macro _get_changes_as_points_sql(options, columns, changes) -%}
  {%- set flags = {} -%}
  {%- for name in (options.is_deleted, '_is_truncate') -%}
    {%- do flags.update({name: 'ifNull(toBool(_dbt_source.' ~ versioned_collapsing.quote_name(name) ~ '), false)'
        if name in columns.given else 'false'}) -%}
  {%- endfor -%}
  {%- set values = [] -%}
  {%- for name in columns.payload -%}
    {%- do values.append('_dbt_source.' ~ versioned_collapsing.quote_name(name)) -%}
  {%- endfor -%}
  {%- set type = 'Nullable({})' if columns.given[options.version].startswith('Nullable(') else '{}' %}
  select
    {%- for name in columns.key %}
    {%- set value = '_dbt_source.' ~ versioned_collapsing.quote_name(name) %}
    {%- set default = versioned_collapsing._get_default_sql(
        versioned_collapsing.get_base_type(columns.given[name])
    ) %}
    {{ 'if(' ~ flags._is_truncate ~ ', ' ~ default ~ ', ' ~ value ~ ')'
        if '_is_truncate' in columns.given else value }}
      as {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {{ versioned_collapsing._get_state_sql(values) }} as _dbt_state,
    accurateCast(_dbt_source.{{ versioned_collapsing.quote_name(options.version) }}, {{
        versioned_collapsing.quote_literal(type | replace('{}', columns.version_type)) }}) as _dbt_at,
    {{ flags[options.is_deleted] }} or {{ flags._is_truncate }} as _dbt_is_end,
    {{ flags._is_truncate }} as _dbt_is_truncate
    {%- for name in columns.carried %},
    {{ '_dbt_source.' ~ name if name in ('_watermark', '_landing') else 'ifNull(_dbt_source.' ~ name ~ ', 0)' }}
      as {{ name }}
    {%- endfor %}
  from {{ versioned_collapsing.get_subquery_sql(changes) }} as _dbt_source
  where true
  {%- if 'Int' in columns.version_type %}
    {%- set bits = columns.version_type.split('Int')[1] | int - (0 if columns.version_type.startswith('U') else 1) %}
    and throwIf(ifNull(_dbt_at = cast('{{ 2 ** bits - 1 }}', '{{ columns.version_type }}'), false), {{
      versioned_collapsing.quote_literal(
          options.version ~ ' is the highest number of its type. A state that ended there would have no end. Declare a '
          ~ 'wider data_type of valid_from, and rebuild the table'
      ) }}) = 0
  {%- endif %}
  {%- if '_unset' in columns.given %}
    and throwIf(notEmpty(_dbt_source._unset), {{ versioned_collapsing.quote_literal(
      'A change leaves columns as they are (_unset), and a state needs all of them. Let the source send whole rows, '
      ~ 'such as PostgreSQL with REPLICA IDENTITY FULL, or use the macro `versions`'
  ) }}) = 0
  {%- endif %}
{%- endmacro %}

{# The versions of the truncates, and the keys of which points are read: those that change or that a truncate ends. #}
{% macro _get_touched_keys_sql(table, options, columns, found) -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(table) -%}
  {%- set has_truncates = '_is_truncate' in columns.given -%}
  {%- if has_truncates %}
  (select groupUniqArrayIf(_dbt_at, _dbt_is_truncate) from _dbt_changes) as _dbt_new_truncates,
  {%- if columns.stored and tombstones.identifier in found %}
  (
    select groupUniqArray(valid_from)
    from {{ tombstones }}
    where {{ versioned_collapsing.quote_name(options.version) }} <> {{
        versioned_collapsing._get_end_version_sql('valid_from', columns) }}
    {%- for name in columns.key %}
      and {{ versioned_collapsing.quote_name(name) }} = {{
          versioned_collapsing._get_default_sql(columns.stored[name]) }}
    {%- endfor %}
  ) as _dbt_old_truncates,
  {%- else %}
  [] as _dbt_old_truncates,
  {%- endif %}
  {%- endif %}
  _dbt_touched as (
    select {{ versioned_collapsing.quote_names(columns.key) }}
    from _dbt_changes
    {%- if has_truncates and columns.stored %}

    union distinct

    select {{ versioned_collapsing._get_stored_values(columns.key, columns) | join(', ') }}
    from {{ table }} final
    where notEmpty(_dbt_new_truncates)
      and {{ versioned_collapsing.quote_name(options.sign) }} = 1
      and arrayExists(_dbt_end -> valid_from <= _dbt_end and ifNull(valid_to > _dbt_end, true), _dbt_new_truncates)
    {%- endif %}
  )
{%- endmacro %}

{# The points of the changes, of the table and of its tombstones, and a point of each key for each truncate. The end of
   a state is a point, too: it is not in the tombstones if deletes are not remembered. #}
{% macro _get_points_sql(table, options, columns, found) -%}
  {%- set key = versioned_collapsing.quote_names(columns.key) -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(table) -%}
  {%- set first = versioned_collapsing.quote_name(columns.key[0]) -%}
  {%- set is_touched = first ~ ' in (select ' ~ first ~ ' from _dbt_touched)' ~ (
      ' and (' ~ key ~ ') in (select ' ~ key ~ ' from _dbt_touched)' if columns.key | length > 1 else ''
  ) -%}
  {%- set no_version = versioned_collapsing._get_default_sql(columns.end_type) -%}
  {%- set nothing = [] -%}
  {%- for name in columns.payload -%}
    {%- do nothing.append(versioned_collapsing._get_default_sql(columns.given[name])) -%}
  {%- endfor -%}
  {%- set not_carried = [''] -%}
  {%- for name in columns.carried -%}
    {%- do not_carried.append(versioned_collapsing._get_default_sql(columns.given[name])) -%}
  {%- endfor -%}
  {%- set of_table = versioned_collapsing._get_stored_values(columns.key, columns) | join(', ') -%}
  {%- set ends = [] -%}
  {%- if columns.stored and tombstones.identifier in found -%}
    {%- do ends.append([of_table ~ ', valid_from', tombstones ~ ' where ' ~ is_touched]) -%}
  {%- endif -%}
  {%- if '_is_truncate' in columns.given -%}
    {%- do ends.append([
        key ~ ', arrayJoin(arrayConcat(_dbt_new_truncates, _dbt_old_truncates))',
        '(select distinct ' ~ key ~ ' from _dbt_touched)'
    ]) -%}
  {%- endif %}
      select
        {{ key }}, _dbt_at, _dbt_state, true as _dbt_is_change, _dbt_is_end, _dbt_is_truncate, false as _dbt_is_stored,
        {{ no_version }} as _dbt_stored_version{{ ([''] + columns.carried) | join(', ') }}
      from _dbt_changes
      {%- if columns.stored %}

      union all

      select
        {{ of_table }}, _dbt_point.1,
        {{ versioned_collapsing._get_state_sql(versioned_collapsing._get_stored_values(columns.payload, columns)) }},
        false, false, false, _dbt_point.2,
        {{ versioned_collapsing.quote_name(options.version) }}{{ not_carried | join(', ') }}
      from (
        select *
        from {{ table }} final
        where {{ versioned_collapsing.quote_name(options.sign) }} = 1 and {{ is_touched }}
        settings do_not_merge_across_partitions_select_final = 1
      )
      array join arrayFilter(
        _dbt_each -> isNotNull(_dbt_each.1), [(toNullable(valid_from), true), (valid_to, false)]
      ) as _dbt_point
      {%- endif %}
      {%- for point, source in ends %}

      union all

      select
        {{ point }}, {{ versioned_collapsing._get_state_sql(nothing) }},
        false, true, false, false, {{ no_version }}{{ not_carried | join(', ') }}
      from {{ source }}
      {%- endfor %}
{%- endmacro %}

{# A tuple needs an element, and a table may have only a key. #}
{% macro _get_state_sql(values) %}
  {%- do return('tuple(' ~ (['true'] + values) | join(', ') ~ ')') -%}
{% endmacro %}

{# Columns of the table in the types of the changes; a column that the table does not have yet has its default. #}
{% macro _get_stored_values(names, columns) %}
  {%- set values = [] -%}
  {%- for name in names -%}
    {%- set type = columns.given[name] -%}
    {%- do values.append(
        'cast(' ~ versioned_collapsing.quote_name(name) ~ ', ' ~ versioned_collapsing.quote_literal(type) ~ ')'
        if name in columns.stored else versioned_collapsing._get_default_sql(type)
    ) -%}
  {%- endfor -%}
  {%- do return(values) -%}
{% endmacro %}

{% macro _get_default_sql(type) %}
  {%- do return('defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(type) ~ ')') -%}
{% endmacro %}

{# The end of a state as a version. Times are counted in their own units. #}
{% macro _get_end_version_sql(end, columns) %}
  {%- set type = columns.end_type -%}
  {%- set scale = modules.re.findall('^DateTime64\\((\\d)', columns.version_type) | first -%}
  {%- set number = 'toInt128(toDecimal128(' ~ end ~ ', ' ~ scale ~ ') * ' ~ 10 ** (scale | int) ~ ')' if scale
      else 'cast(' ~ end ~ ", 'Nullable(" ~ type ~ ")')" -%}
  {%- set lowest = '0' if type.startswith('U') else -(2 ** (type[3:] | int - 1)) -%}
  {%- do return('ifNull(bitNot(' ~ number ~ "), cast('" ~ lowest ~ "', '" ~ type ~ "'))") -%}
{% endmacro %}
