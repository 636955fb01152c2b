{# Keeps, for each key, the change with the highest version among the batches that this run takes. At equal versions, a
   delete wins over an upsert of Debezium's, and the last line over other ones (see get_versions_sql). `_duplicates`
   counts the events of the key that repeat another, `_conflicts` the versions that came with more than one payload, and
   `_superseded` the versions below the highest. `_synthetic` counts the deletes among all these that come from an
   update that changed the key, and not from an event of their own.

   If changes are combined with the row instead of replacing it (because the table that reads the change set has
   `combine`, or because they name columns in `_unset`), all changes of the key since its last delete are folded into
   one. `combine` is needed if that table has other names for the columns, or if it is in another project.

   Deletes without a version (`_is_unversioned`) are ordered by the places of the lines. A key then has up to three
   rows, which `_batch` orders: see get_changes_by_place_sql.

   All changes of a key are brought together and sorted once, and everything is aggregated on the way. So memory limits
   neither the number of keys nor the number of changes of one key. #}
{% macro one_change_per_key(events, key, combine=none, counts=['_duplicates', '_conflicts', '_superseded']) -%}
  {%- set columns = versioned_collapsing.read_column_types(events) -%}
  {%- set combine = versioned_collapsing._get_combine_of_tables(model) if combine is none else combine -%}
  {%- do versioned_collapsing.validate_one_change_per_key(model, events, key, columns, combine, counts) -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) -%}
  {%- set lines = versioned_collapsing.get_lines_with_commits_sql(
      versioned_collapsing.read_where_lines_are(events, columns), events, columns
  ) -%}
  {%- set columns = dict(columns, _line_id='bigint') if lines.is_parsed else columns -%}
  {%- if '_is_unversioned' in columns -%}
    {{ versioned_collapsing.get_changes_by_place_sql(lines, key, payload, columns, counts) }}
  {%- elif combine or '_unset' in columns -%}
    {{ versioned_collapsing.get_folded_changes_sql(lines, key, payload, columns, combine, counts) }}
  {%- else -%}
    {{ versioned_collapsing.get_latest_changes_sql(lines, key, payload, columns, counts) }}
  {%- endif -%}
{%- endmacro %}

{# The option `combine` of the tables that read a change set. While dbt parses, and in its unit tests, none is known. #}
{% macro _get_combine_of_tables(model) %}
  {%- set found = {} -%}
  {%- for table in (versioned_collapsing.get_targets(model) if graph else []) -%}
    {%- do found.update({table.unique_id: versioned_collapsing.get_option(table.config, 'combine', {})}) -%}
  {%- endfor -%}
  {%- do versioned_collapsing._validate_one_combine(model, found) -%}
  {%- do return(found.values() | first | default({})) -%}
{% endmacro %}

{% macro _validate_one_combine(model, found) %}
  {%- set first = found.values() | first | default({}) -%}
  {%- if found.values() | reject('equalto', first) | list -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        'the tables ' ~ found | join(', ') ~ ' read it, and differ in combine. Changes of a batch are combined in one '
        ~ 'way: give each table a change set of its own.'
    ], 'one_change_per_key') -%}
  {%- endif -%}
{% endmacro %}

{# All that is wrong with the arguments, as one error; `columns` is empty while the staging model is not built. #}
{% macro validate_one_change_per_key(model, events, key, columns, combine, counts) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key, 'counts': counts}, ['counts'])
      + versioned_collapsing.get_mapping_problems({'combine': combine}) -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'one_change_per_key') -%}
  {%- set payload = versioned_collapsing.get_payload(columns, key) -%}
  {%- if columns -%}
    {%- do problems.extend(versioned_collapsing.get_missing_column_problems(
        events, columns, key + ['_version', '_is_deleted', '_batch', '_reason']
    )) -%}
  {%- endif -%}
  {%- for column in combine if columns and column not in payload -%}
    {%- do problems.append(
        "combine names " ~ column ~ ", which is not a column of the payload. If the table renames columns, pass "
        ~ "combine with their names in " ~ events ~ "."
    ) -%}
  {%- endfor -%}
  {%- do problems.extend(versioned_collapsing.get_policy_problems(combine)) -%}
  {%- if combine and '_is_unversioned' in columns -%}
    {%- do problems.append(
        "combine is set, and " ~ events ~ " has delete_version: 'ignore'. Changes cannot be combined across deletes "
        ~ "without a version. Remove one of them."
    ) -%}
  {%- endif -%}
  {%- set unknown = counts | reject('in', ['_duplicates', '_conflicts', '_superseded']) | list -%}
  {%- if unknown -%}
    {%- do problems.append(
        "counts names " ~ unknown | join(', ') ~ "; it takes '_duplicates', '_conflicts' and '_superseded'."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'one_change_per_key') -%}
{% endmacro %}

{# One change per key, if changes are combined. The policy of each column combines the upserts above the last delete of
   the key. Upserts that lack the column (`_unset`) do not count. A column that all of them lack stays unset. `_reset`
   says that a delete or a truncate lies below: then the stored row is not combined with them. #}
{% macro get_folded_changes_sql(lines, key, payload, columns, combine, counts) -%}
  {%- set unset = ['_unset'] if '_unset' in columns else [] -%}
  {%- set truncated_at = ['_truncated_at'] if '_is_truncate' in columns else [] -%}
  {%- set keys = key | join(', ') -%}
  {%- set usable = versioned_collapsing.get_events_above_truncate_sql(lines, key, columns) if truncated_at
      else versioned_collapsing.get_usable_events_sql(lines, key, columns) -%}
  with events as (
    {{ usable }}
  ),
  versions as (
    {{ versioned_collapsing.get_versions_sql('events', key, payload + unset + truncated_at, columns) }}
  ),
  marked as (
    select
      *,
      max(if(_change._is_deleted, _version, null)) over (partition by {{ keys }}) as _deleted_at,
      {%- if versioned_collapsing.has_line_order(columns) %}
      max(if(_is_replaced, _version, null)) over (partition by {{ keys }}) as _replaced_at
      {%- else %}
      null as _replaced_at
      {%- endif %}
    from versions
  )
  select
    {{ keys }},
    {%- for name in payload %}
    {{ versioned_collapsing._get_folded_column_sql(name, combine.get(name, 'latest'), unset) }} as {{ name }},
    {%- endfor %}
    max(_version) as _version,
    max_by(_change._is_deleted, _version) as _is_deleted,
    {%- if unset %}
    filter(
      array(
        {%- for name in payload %}
        {%- set is_set = versioned_collapsing._get_is_set_sql(name, unset) %}
        if(count_if(not {{ is_set }}) = count(*), '{{ name }}', null){{ ',' if not loop.last }}
        {%- endfor %}
      ),
      name -> name is not null
    ) as _unset,
    {%- endif %}
    not max_by(_change._is_deleted, _version) and (
      max(coalesce(_deleted_at, _replaced_at)) is not null
      {{- ' or max(_change._truncated_at) is not null' if truncated_at }}
    ) as _reset,
    {%- if truncated_at %}
    {{ key[0] }} is null as _is_truncate,
    {%- endif %}
    {{ versioned_collapsing._get_counts_sql(counts, columns) }}
  from marked
  group by {{ keys }}
{%- endmacro %}

{# The usable events above the last truncate. Events at or below it get the key of the truncate: they are counted with
   it, and their rows are in no fold. A line is searched for the text of a truncate before it is parsed. #}
{% macro get_events_above_truncate_sql(lines, key, columns) -%}
  {%- set is_below = '(_version <= _truncated_at and not _is_truncate)' -%}
  select
    {%- for name in columns %}
    {%- set value = 'if(' ~ is_below ~ ', null, ' ~ name ~ ')' if name in key
        else '_is_deleted or coalesce(' ~ is_below ~ ', false)' if name == '_is_deleted' else name %}
    {{ value }} as {{ name }},
    {%- endfor %}
    {%- if '_key_before' in columns %}
    _is_left,
    {%- endif %}
    _truncated_at
  from ({{ versioned_collapsing.get_usable_events_sql(lines, key, columns) }})
  cross join (
    select max(_version) as _truncated_at
    from {{ lines.relation }}
    where _reason is null
      and {{ lines.is_pending }}
      and _is_truncate{{ ' and _raw_line like \'%"t"%\'' if not lines.is_parsed }}
  )
{%- endmacro %}

{# The usable events of the batches that this run takes. An update that changes the key becomes two events: the second
   one deletes the row with the old key. #}
{% macro get_usable_events_sql(lines, key, columns) -%}
  {%- if '_key_before' not in columns %}
  select *
  from {{ lines.relation }}
  {%- else %}
  select
    {%- for name in columns %}
    {%- set value = 'if(_is_left, _key_before.' ~ name ~ ', ' ~ name ~ ')' if name in key
        else '_is_left or _is_deleted' if name == '_is_deleted' else name %}
    {{ value }} as {{ name }},
    {%- endfor %}
    _is_left
  from {{ lines.relation }}
  lateral view explode(if(_key_before is null, array(false), array(false, true))) as _is_left
  {%- endif %}
  where _reason is null
    and {{ versioned_collapsing.get_is_event_sql(columns) }}
    and {{ lines.is_pending }}
{%- endmacro %}

{# The usable events of the batches that this run takes, one row for each version of a key. The rows are distributed by
   key alone. So a later grouping by key finds them in the right place and in the right order. `rows` is where the
   events come from, and `kept` are the columns to keep besides the key.

   Some tools send an update as a delete and an insert at one version. So if rows replace each other, the last line
   decides whether the row is deleted, and `_is_replaced` says that a delete lies before an upsert. Debezium's positions
   tell a delete from an insert; where its version is a column, a delete has the version of the row that it deletes, and
   wins. #}
{% macro get_versions_sql(rows, key, kept, types) -%}
  {%- set has_order = versioned_collapsing.has_line_order(types) -%}
  {%- set change = 'struct(' ~ (['_is_deleted'] + kept) | join(', ') ~ ')' -%}
  {%- set is_replaced = 'max(if(_is_deleted, _place, null)) < max(if(_is_deleted, null, _place))' -%}
  select
    {{ key | join(', ') }},
    _version,
    {%- if has_order %}
    if(
      coalesce({{ is_replaced }}, false),
      max({{ change }}) filter (where not _is_deleted),
      max({{ change }})
    ) as _change,
    coalesce({{ is_replaced }}, false) as _is_replaced,
    {%- else %}
    max({{ change }}) as _change,
    {%- endif %}
    count(*) - 1 as _repeats,
    coalesce(min(_digest) <> max(_digest), false) as _is_conflict
    {%- if '_key_before' in types %},
    count_if(_is_left) as _lefts
    {%- endif %}
  from (
    select
      {{ (key + kept) | join(', ') }},
      {%- if '_key_before' in types %}
      _is_left,
      {%- endif %}
      {%- if has_order %}
      {#- Spark reads the lines of a block in their order. #}
      {%- set line = '_line_id' if '_line_id' in types else 'monotonically_increasing_id()' %}
      struct(_batch, _file, _block_start, {{ line }} as line) as _place,
      {%- endif %}
      _version,
      _is_deleted,
      if(_is_deleted, null, {{ versioned_collapsing.get_digest_sql(kept, types) }}) as _digest
    from {{ rows }}
    distribute by {{ key | join(', ') }}
  )
  group by {{ key | join(', ') }}, _version
{%- endmacro %}

{# Whether the place of a line decides at one version. Only Debezium's lines can be truncates. #}
{% macro has_line_order(types) %}
  {%- do return('_is_truncate' not in types and '_file' in types and '_block_start' in types) -%}
{% endmacro %}

{# A hash of columns that is the same only for the same values. Spark's hash ignores nulls, also those within a value.
   So each column comes after a flag that says whether it is null, and a nested value is hashed as its JSON. Floats are
   hashed as text: 0.0 and -0.0 are not the same, but all NaN are. #}
{% macro get_digest_sql(names, types) %}
  {%- set parts = [] -%}
  {%- for name in names -%}
    {%- set column = adapter.quote(name) -%}
    {%- do parts.extend([column ~ ' is null', versioned_collapsing._get_hashable_sql(column, types.get(name, ''))]) -%}
  {%- endfor -%}
  {%- do return('xxhash64(' ~ (parts | join(', ') or '1') ~ ')') -%}
{% endmacro %}

{# `_unset` is made by these macros, and has no nulls. #}
{% macro _get_hashable_sql(column, type) %}
  {%- if type in ('float', 'double') -%}
    {%- do return('cast(' ~ column ~ ' as string)') -%}
  {%- elif '<' in type and column != adapter.quote('_unset') -%}
    {%- do return(
        'to_json(struct(' ~ column ~ "), map('ignoreNullFields', 'false', "
        ~ "'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', "
        ~ "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'))"
    ) -%}
  {%- endif -%}
  {%- do return(column) -%}
{% endmacro %}

{% macro _get_folded_column_sql(name, policy, unset) %}
  {%- set column = '_change.' ~ name -%}
  {%- set is_set = versioned_collapsing._get_is_set_sql(name, unset) -%}
  {%- set aggregate = {
      'latest': 'max_by(' ~ column ~ ', _version)',
      'greatest': 'max(' ~ column ~ ')',
      'least': 'min(' ~ column ~ ')',
      'coalesce': 'max_by(' ~ column ~ ', _version)',
      'first': 'min_by(' ~ column ~ ', _version)',
  }[policy] -%}
  {%- set has_value = ' and ' ~ column ~ ' is not null' if policy in ('coalesce', 'first') else '' -%}
  {%- do return(aggregate ~ ' filter (where ' ~ is_set ~ has_value ~ ')') -%}
{% endmacro %}

{% macro _get_is_set_sql(name, unset) %}
  {%- set is_set = 'not _change._is_deleted and (_deleted_at is null or _version > _deleted_at)'
      ~ ' and (_replaced_at is null or _version >= _replaced_at)' -%}
  {%- do return('(' ~ is_set ~ (" and not array_contains(_change._unset, '" ~ name ~ "')" if unset else '') ~ ')') -%}
{% endmacro %}

{% macro _get_counts_sql(counts, columns) %}
  {%- set replaced = 'count_if(_is_replaced)' if versioned_collapsing.has_line_order(columns) else '' -%}
  {%- set expressions = {
      '_duplicates': 'sum(_repeats) - count_if(_is_conflict)' ~ (' - ' ~ replaced if replaced),
      '_conflicts': 'count_if(_is_conflict)',
      '_superseded': 'count(*) - 1' ~ (' + ' ~ replaced if replaced),
      '_synthetic': 'sum(_lefts)',
  } -%}
  {%- set selected = [] -%}
  {%- for name in counts + versioned_collapsing._get_synthetic_count(columns) -%}
    {%- do selected.append(expressions[name] ~ ' as ' ~ name) -%}
  {%- endfor -%}
  {%- do return(selected | join(', ')) -%}
{% endmacro %}

{# The count of changes that belong to no event, if there can be any. #}
{% macro _get_synthetic_count(columns) %}
  {%- do return(['_synthetic'] if '_key_before' in columns else []) -%}
{% endmacro %}

{# The changes of each key if deletes have no version: the last upsert before the last delete, the delete, and the last
   upsert after it. `_batch` is 0, 1 and 2: with `delete_version: ignore`, the table takes them in this order, and gives
   the delete the version of what it deletes, in the table or here. #}
{% macro get_changes_by_place_sql(lines, key, payload, columns, counts) -%}
  {%- set columns = dict(columns, _line_id='bigint') -%}
  {%- set placed -%}
    (
      select
        *,
        case
          when _is_deleted then 1
          when struct(_batch, _file, _block_start, _line_id)
            > max(if(_is_deleted, struct(_batch, _file, _block_start, _line_id), null)) over (
              partition by {{ key | join(', ') }}
            ) then 2
          else 0
        end as _step
      from (
        select *{{ '' if lines.is_parsed else ', monotonically_increasing_id() as _line_id' }}
        from {{ lines.relation }}
        where _reason is null and {{ lines.is_pending }}
      )
    )
  {%- endset -%}
  select
    * except (_step, _is_deleted),
    coalesce(_is_deleted, true) as _is_deleted,
    _step as _batch
  from (
    {{ versioned_collapsing.get_latest_changes_sql(
        {'relation': placed, 'is_pending': 'true', 'is_parsed': true}, key + ['_step'], payload, columns, counts
    ) }}
  )
{%- endmacro %}

{# The last change of each key. A truncate has no key: the last one is the change of the key null. ClickHouse drops the
   changes below it. #}
{% macro get_latest_changes_sql(lines, key, payload, columns, counts) -%}
  {%- set usable = versioned_collapsing.get_usable_events_sql(lines, key, columns) -%}
  with versions as (
    {{ versioned_collapsing.get_versions_sql('(' ~ usable ~ ')', key, payload, columns) }}
  ),
  latest as (
    select
      {{ key | join(', ') }},
      max_by(_change, _version) as _change,
      max(_version) as _version,
      {{ versioned_collapsing._get_counts_sql(counts, columns) }}
    from versions
    group by {{ key | join(', ') }}
  )
  select
    {{ key | join(', ') }},
    {%- for name in payload %}
    _change.{{ name }} as {{ name }},
    {%- endfor %}
    _version,
    _change._is_deleted as _is_deleted,
    {%- if '_is_truncate' in columns %}
    {{ key[0] }} is null as _is_truncate,
    {%- endif %}
    {{ (counts + versioned_collapsing._get_synthetic_count(columns)) | join(', ') }}
  from latest
{%- endmacro %}
