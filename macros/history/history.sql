{# What the history macros need to know about a table, with names as SQL:

   - relation, ledger, uuid: the table, its ledger, its current UUID
   - changes: its change feed; feed: the same, or an empty query with its columns if there is none (has_feed)
   - all: the columns of the feed, except those that only the feed has
   - names: the columns that `select *` returns from the table, without the sign; plain_names: the same as a list
   - sign, key, version

   Arguments that are left out default to the options of the table's model. `has_lives`: whether the caller asks when
   states were valid. None while dbt parses, and if the table does not exist. #}
{% macro read_history(caller_name, relation, has_lives=false, sign=none, unique_key=none, version_column=none) %}
  {%- if not execute -%}{%- do return(none) -%}{%- endif -%}
  {%- set table = api.Relation.create(schema=relation.schema, identifier=relation.identifier) -%}
  {%- set changes = versioned_collapsing.get_feed_relation(table) -%}
  {%- set described = versioned_collapsing.read_feed_columns(table, changes) -%}
  {%- if not described.table -%}{%- do return(none) -%}{%- endif -%}
  {%- set options = versioned_collapsing._get_options_of(table) -%}
  {%- set named = {
      'sign': sign or options.get('sign', '_sign'),
      'unique_key': versioned_collapsing.as_list(unique_key or options.get('unique_key')),
      'version_column': version_column or options.get('version', '_version'),
  } -%}
  {%- if has_lives -%}
    {%- do versioned_collapsing.validate_named_columns(caller_name, table, described.table, named) -%}
    {%- do versioned_collapsing.validate_has_lives(caller_name, table, options) -%}
  {%- endif -%}
  {%- set all = described.table | map(attribute='name') | list -%}
  {%- set names = described.table | selectattr('default_kind', 'in', ['', 'DEFAULT']) | map(attribute='name')
      | reject('equalto', named.sign) | list -%}
  {%- do return({
      'relation': table,
      'ledger': versioned_collapsing.get_ledger_relation(table),
      'uuid': versioned_collapsing.get_table_uuid_sql(table),
      'changes': changes,
      'has_feed': described.feed != {},
      'feed': changes if described.feed else versioned_collapsing._get_empty_feed_sql(table, all),
      'all': versioned_collapsing.quote_names(all),
      'names': versioned_collapsing.quote_names(names),
      'plain_names': names,
      'sign': versioned_collapsing.quote_name(named.sign),
      'key': versioned_collapsing.quote_names(named.unique_key),
      'version': versioned_collapsing.quote_name(named.version_column),
  }) -%}
{% endmacro %}

{# The options of the model that builds a table; empty if no model of the project does. #}
{% macro _get_options_of(relation) %}
  {%- for node in graph.nodes.values()
      if node.config.materialized == 'versioned_collapsing'
        and node.schema == relation.schema and node.alias == relation.identifier -%}
    {%- do return(versioned_collapsing.get_versioned_collapsing_options(node.config, node)) -%}
  {%- endfor -%}
  {%- do return({}) -%}
{% endmacro %}

{# The columns that the caller names must be in the table. #}
{% macro validate_named_columns(caller_name, relation, table_columns, named) %}
  {%- set known = table_columns | map(attribute='name') | list -%}
  {%- set problems = [] -%}
  {%- for argument, names in named.items() -%}
    {%- for name in versioned_collapsing.as_list(names) if name not in known -%}
      {%- do problems.append(
          argument ~ ' is ' ~ name ~ ', and ' ~ relation ~ ' has no such column. It has ' ~ known | join(', ') ~ '.'
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if not named.unique_key -%}
    {%- do problems.append(
        'no model of this project builds ' ~ relation ~ ', so its key is not known. Name it: unique_key=[…].'
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.validate_no_problems(caller_name, problems) -%}
{% endmacro %}

{% macro validate_no_problems(caller_name, problems) %}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(caller_name ~ ': ' ~ problems | join('\n  ')) -%}
  {%- endif -%}
{% endmacro %}

{# Signed input does not say which change ended a state, and may come in any order. #}
{% macro validate_has_lives(caller_name, relation, options) %}
  {%- if options.get('old_state') == 'stream' -%}
    {%- do versioned_collapsing.validate_no_problems(caller_name, [
        'the model of ' ~ relation ~ ' has `old_state: stream`. The rows of such a table come with their signs and do '
        ~ 'not say when a state ended. Use changes_since.'
    ]) -%}
  {%- endif -%}
{% endmacro %}

{% macro _get_empty_feed_sql(relation, names) -%}
  (
    select
      {{ versioned_collapsing.quote_names(names) }},
      toUInt64(0) as _apply,
      toDateTime64(0, 6, 'UTC') as _applied_at,
      toUInt64(0) as _changed_version
    from {{ relation }}
    where false
  )
{%- endmacro %}

{# What to read instead of a history while there is no table: the live rows. #}
{% macro get_no_history_sql(relation, sign) %}
  {%- set named = sign or (versioned_collapsing._get_options_of(relation) if execute else {}).get('sign', '_sign') -%}
  {%- do return('(select * from ' ~ relation ~ ' final where ' ~ versioned_collapsing.quote_name(named) ~ ' = 1)') -%}
{% endmacro %}

{# The state rows of the whole feed, each with its life. The cancel rows of its key and version end it, up to the next
   such state row. The columns of a life begin with `_dbt_`.

   The feed has no rows from other writers, but it does have the rows that repair them. So the table decides what is
   live now. A cancel row without a state row cancels a row that the feed never had. A state row that is not live and
   was never cancelled repairs a cancel row that the feed never had. A live row that was cancelled was stored twice.

   An apply writes to the feed, then to the ledger, then to the table. So the table must be read first, the ledger next
   and the feed last: the feed then has everything that the table shows. A ClickHouse query sees every table as it was
   when its name was first resolved (`enable_shared_storage_snapshot_in_query`, which is on by default), and the first
   select of a union is resolved first. The first select here returns no rows. #}
{% macro get_states_with_validity_sql(history) %}
  {%- set state = history.key ~ ', ' ~ history.version %}
  (
    select
      {{ history.names }},
      {{ history.version }} as _dbt_from,
      {{ history.version }} as _dbt_to,
      toUInt8(1) as _dbt_is_current,
      toDateTime64(0, 6, 'UTC') as _dbt_known_from,
      toDateTime64(0, 6, 'UTC') as _dbt_known_to,
      toUInt64(0) as _dbt_apply
    from {{ history.relation }}
    where false and (select count() from {{ history.ledger }}) < 0

    union all

    with
      ({{ versioned_collapsing.get_applies_since_sql(history, '0', with_open=true) }}) as _dbt_applies,
      _dbt_lives as ({{ versioned_collapsing._get_lives_sql(history, state) }})
    select {{ history.names }}, _dbt_lives.* except ({{ state }}, _apply), _apply as _dbt_apply
    from (
      select {{ history.names }}, _apply
      from {{ history.feed }}
      where {{ versioned_collapsing.get_is_of_applies_sql('_dbt_applies') }} and {{ history.sign }} = 1
    ) as _dbt_states
    inner any join _dbt_lives using ({{ state }}, _apply)
  )
{%- endmacro %}

{# A life ends with the first change above it. If there is none, it ends with a delete at the version of the state; such
   a cancel row can also repair a row that was stored twice. #}
{% macro _get_lives_sql(history, state) -%}
  {%- set ended = '(_changed_version <= ' ~ history.version ~ ', _apply)' -%}
  select
    {{ state }},
    _dbt_born as _apply,
    _dbt_from,
    _dbt_to,
    _dbt_is_current,
    _dbt_known_from,
    _dbt_known_to
  from (
    select
      {{ state }},
      anyIf(_apply, {{ history.sign }} = 1) as _dbt_born,
      {{ history.version }} as _dbt_from,
      argMinIf(_changed_version, {{ ended }}, {{ history.sign }} = -1) as _dbt_to,
      anyIf(_applied_at, {{ history.sign }} = 1) as _dbt_known_from,
      argMinIf(_applied_at, {{ ended }}, {{ history.sign }} = -1) as _dbt_known_to,
      _dbt_life = any(_dbt_lives_of_state) and ({{ state }}) in (
        select {{ state }} from {{ history.relation }} final where {{ history.sign }} = 1
      ) as _dbt_is_current,
      countIf({{ history.sign }} = -1) > 0 as _dbt_is_cancelled
    from (
      select
        {{ state }}, {{ history.sign }}, _apply, _applied_at, _changed_version,
        countIf({{ history.sign }} = 1) over (
          partition by {{ state }} order by _apply, {{ history.sign }} desc
          rows between unbounded preceding and current row
        ) as _dbt_life,
        countIf({{ history.sign }} = 1) over (partition by {{ state }}) as _dbt_lives_of_state
      from {{ history.feed }}
      where {{ versioned_collapsing.get_is_of_applies_sql('_dbt_applies') }}
    )
    where _dbt_life > 0
    group by {{ state }}, _dbt_life
  )
  where _dbt_is_current or _dbt_is_cancelled
{%- endmacro %}
