{# Removes keys from a table, its tombstones, change feed and views, and from the tables in `also`, and keeps their
   changes out from then on. The keys are given (`key`), or a query finds them (`keys`). Without either, it removes what
   is left, or is there again, of keys that were forgotten before: after it was killed, or after a restore.

   It can be killed at any statement and repeated. The hashes are there before the first row goes. The keys to remove
   stay in a staged table until nothing of them is left. Its comment has the run ID, so that all attempts have one
   certificate. #}
{% macro forget(model, key=none, keys=none, also=[]) %}
  {%- set node = versioned_collapsing.get_collapsing_node('forget', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('forget', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set columns = versioned_collapsing.read_described_columns(table, options) -%}
  {%- set apply = versioned_collapsing.get_apply(node, table, options=options) -%}
  {%- set source_key = versioned_collapsing.get_source_key(node) -%}
  {%- set of_subject = dict(options, unique_key=source_key, keeps_states=source_key != options.unique_key) -%}
  {%- do versioned_collapsing._validate_request(node, of_subject, key, keys) -%}
  {#- Dropped tables are removed from the disk at once. -#}
  {%- do run_query('set database_atomic_wait_for_drop_and_detach_synchronously = 1') -%}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- do versioned_collapsing.acquire_lock(table, apply) -%}
  {%- set apply = versioned_collapsing._complete_earlier_runs(table, options, node, apply) -%}
  {%- set subject = versioned_collapsing._stage_keys(table, of_subject, columns, key, keys, also, apply) -%}
  {%- set apply = dict(apply, run_id=subject.run_id) -%}
  {%- set views = versioned_collapsing._read_views_of(node) -%}
  {%- do versioned_collapsing._remove_dropped_tables([table] + views | map(attribute='relation') | list, apply) -%}
  {%- set places = versioned_collapsing._read_places(table, of_subject, subject, views, also, apply)
      + versioned_collapsing.read_places_of_files(node, subject) -%}
  {%- do versioned_collapsing._record_places(table, subject.relation, places, 'found', apply) -%}
  {%- do versioned_collapsing._remember_hashes(table, subject, apply) -%}
  {%- do versioned_collapsing._cancel_in_materialized_views(table, options, columns, subject, apply) -%}
  {%- do versioned_collapsing._settle_accounts(table, options, subject, apply) -%}
  {%- for place in places if place.is_ours -%}
    {%- do versioned_collapsing._erase(place, apply) -%}
  {%- endfor -%}
  {%- do versioned_collapsing._erase_verifications(table, subject, apply) -%}
  {%- for view in views -%}
    {%- do versioned_collapsing._fill_view_again(view, node, apply) -%}
  {%- endfor -%}
  {%- set places = versioned_collapsing.erase_files(places, apply) -%}
  {%- do versioned_collapsing._record_places(table, subject.relation, places, 'removed', apply) -%}
  {%- do versioned_collapsing._log_certificate(table, apply) -%}
  {%- do versioned_collapsing.drop_tables([subject.relation]) -%}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
{% endmacro %}

{% macro _validate_request(node, options, key, keys) %}
  {%- set given = [key] if key is mapping or key is number else key or [] -%}
  {%- set wrong = [] -%}
  {%- for each in given if each is not mapping or each | sort != options.unique_key | sort -%}
    {%- do wrong.append(each) -%}
  {%- endfor -%}
  {%- set names = options.unique_key | join(': …, ') ~ ': …' -%}
  {%- if key is not none and keys is not none -%}
    {%- do exceptions.raise_compiler_error("forget: give `key` or `keys`, not both.") -%}
  {%- elif given is string or wrong or (key is not none and not given) -%}
    {%- do exceptions.raise_compiler_error(
        "forget: `key` does not have the columns of the key of " ~ node.name ~ ". Give one key, {" ~ names
        ~ "}, or a list of such keys."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Completes what other runs have left unfinished. Returns the apply with its number. #}
{% macro _complete_earlier_runs(table, options, node, apply) %}
  {%- set tables = versioned_collapsing.read_tables_of(table) -%}
  {%- do versioned_collapsing.validate_finished(
      'forget', table, node, {'unfinished': not versioned_collapsing.has_own_tombstones(tables)}, apply
  ) -%}
  {%- set ledger = versioned_collapsing.read_restored_ledger(table, options, node, apply) -%}
  {%- set apply = dict(apply, number=ledger.number + 1) -%}
  {%- if ledger.unfinished -%}
    {%- do versioned_collapsing.recover_apply(table, options, ledger.unfinished, apply) -%}
    {%- set ledger = versioned_collapsing.read_ledger(table, node) -%}
  {%- endif -%}
  {%- set apply = dict(apply, number=ledger.number + 1) -%}
  {%- do versioned_collapsing.drop_unpublished_from_feed(table, apply) -%}
  {%- do versioned_collapsing.drop_leftover_build(table, tables) -%}
  {%- do versioned_collapsing.drop_staged(table) -%}
  {%- do return(apply) -%}
{% endmacro %}

{# Stages the keys. Returns what later steps need to know of them:

   - relation: the staged table; columns: of the key; secret: of the hashes; table: from which rows are removed
   - seeks_known: whether no keys were given, so that all that were ever forgotten are sought
   - run_id: of this run, or of a killed one whose keys are still there
   - is_forgotten: the condition that a row of the table, its feed or its tombstones has one of the keys #}
{% macro _stage_keys(table, options, columns, key, keys, also, apply) %}
  {%- set relation = versioned_collapsing.get_helper_relation(table, 'forget') -%}
  {%- set found = versioned_collapsing.read_tables_beside(table) -%}
  {%- set forgotten = versioned_collapsing.get_forgotten_relation(table) -%}
  {%- set secret = versioned_collapsing.read_secret(forgotten, found.get(forgotten.identifier), apply) -%}
  {%- set key_columns = versioned_collapsing._get_key_columns(options.unique_key, columns) -%}
  {%- set names = versioned_collapsing.quote_names(options.unique_key) -%}
  {%- set given = versioned_collapsing._get_given_keys_sql(key_columns, key, secret) if key is not none
      else versioned_collapsing.get_subquery_sql(keys) if keys is not none
      else versioned_collapsing._read_known_keys_sql(table, key_columns, found, also, secret) -%}
  {%- if options.keeps_states -%}
    {%- do versioned_collapsing._validate_no_key_of_truncates(table, key_columns, given, apply) -%}
  {%- endif -%}
  {%- if forgotten.identifier not in found -%}
    {%- do run_query(versioned_collapsing._get_create_hashes_sql(forgotten, secret)) -%}
  {%- endif -%}
  {%- if relation.identifier not in found -%}
    {%- do run_query(versioned_collapsing._get_create_keys_sql(relation, key_columns, apply)) -%}
  {%- endif -%}
  {% call statement('stage_keys') -%}
    insert into {{ relation }} ({{ names }})
    select distinct {{ versioned_collapsing._get_cast_keys_sql(key_columns) }}
    from {{ given }}
    where ({{ names }}) not in (select {{ names }} from {{ relation }})
    {{ versioned_collapsing.get_settings_sql(apply, {'apply_deleted_mask': 1 if key or keys else 0}) }}
  {%- endcall %}
  {%- do return({
      'relation': relation,
      'columns': key_columns,
      'names': names,
      'secret': secret,
      'table': table,
      'seeks_known': key is none and keys is none,
      'run_id': found[relation.identifier].comment if relation.identifier in found else apply.run_id,
      'is_forgotten': '(' ~ names ~ ') in (select ' ~ names ~ ' from ' ~ relation ~ ')',
  }) -%}
{% endmacro %}

{# `validity` remembers truncates by a key: without them, states that they ended would come back. #}
{% macro _validate_no_key_of_truncates(table, key_columns, given, apply) %}
  {%- set names = key_columns | map(attribute='name') | list -%}
  {%- set defaults = [] -%}
  {%- for column in key_columns -%}
    {%- set type = versioned_collapsing.get_base_type(column.type) -%}
    {%- do defaults.append('defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(type) ~ ')') -%}
  {%- endfor -%}
  {%- set query -%}
    select count() as n
    from (select {{ versioned_collapsing._get_cast_keys_sql(key_columns) }} from {{ given }})
    where toString(tuple({{ versioned_collapsing.quote_names(names) }})) = toString(tuple({{ defaults | join(', ') }}))
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- if run_query(query).rows[0]['n'] | int -%}
    {%- do versioned_collapsing.stop_run(apply,
        "forget: a key has the default of its type (0 or an empty text) in " ~ names | join(', ') ~ ". By this key, "
        ~ table ~ " remembers truncates, so it must stay. Delete the rows of the key at the source, drop the table "
        ~ "with its __tombstones, and build it anew."
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro _get_create_keys_sql(relation, key_columns, apply) -%}
  create table {{ relation }} {{ on_cluster_clause(relation) }} (
    {%- for column in key_columns %}
    {{ versioned_collapsing.quote_name(column.name) }} {{ column.type }}{{ ',' if not loop.last }}
    {%- endfor %}
  )
  engine = {{ versioned_collapsing.get_engine_name(relation, 'MergeTree') }}
  order by ({{ versioned_collapsing.quote_names(key_columns | map(attribute='name')) }})
  {{ versioned_collapsing.get_settings_sql() }}
  comment {{ versioned_collapsing.quote_literal(apply.run_id) }}
{%- endmacro %}

{% macro _get_create_hashes_sql(forgotten, secret) -%}
  create table {{ forgotten }} {{ on_cluster_clause(forgotten) }} (
    hash String comment 'HMAC-SHA256 of the key',
    forgotten_at DateTime('UTC') default now(),
    run_id String comment 'Run of the certificate'
  )
  engine = {{ versioned_collapsing.get_engine_name(forgotten, 'MergeTree') }}
  order by hash
  {{ versioned_collapsing.get_settings_sql() }}
  comment {{ versioned_collapsing.quote_literal(versioned_collapsing.get_forgotten_comment(secret)) }}
{%- endmacro %}

{# The keys that an argument gives. ClickHouse leaves the arguments of `encrypt` and `decrypt` out of its logs. #}
{% macro _get_given_keys_sql(key_columns, key, secret) -%}
  {%- set password = versioned_collapsing.quote_literal(secret[:32]) -%}
  (
    {%- for each in ([key] if key is mapping else key) %}
    select
      {%- for column in key_columns %}
      decrypt('aes-256-ecb', encrypt('aes-256-ecb', {{
        versioned_collapsing.quote_literal(each[column.name] | string) }}, {{ password }}), {{ password }})
        as {{ versioned_collapsing.quote_name(column.name) }}{{ ',' if not loop.last }}
      {%- endfor %}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
  )
{%- endmacro %}

{% macro _get_cast_keys_sql(key_columns) %}
  {%- set casts = [] -%}
  {%- for column in key_columns -%}
    {%- set name = versioned_collapsing.quote_name(column.name) -%}
    {%- do casts.append(
        'accurateCast(' ~ name ~ ', ' ~ versioned_collapsing.quote_literal(column.type) ~ ') as ' ~ name
    ) -%}
  {%- endfor -%}
  {%- do return(casts | join(', ')) -%}
{% endmacro %}

{# The keys that were forgotten before and that the table, its feed, its tombstones or a table in `also` have. #}
{% macro _read_known_keys_sql(table, key_columns, found, also, secret) -%}
  {%- set with_key = versioned_collapsing._read_tables_with_key({'relation': table, 'columns': key_columns}) -%}
  {%- set selects = [] -%}
  {%- set own = versioned_collapsing.get_relations_with_rows(table) | selectattr('identifier', 'in', found) | list -%}
  {%- for relation in own + versioned_collapsing._get_named_relations(table, also) if relation | string in with_key -%}
    {%- set values, names, staged = [], [], [] -%}
    {%- for column in versioned_collapsing._get_cast_key(key_columns, types=with_key[relation | string].types) -%}
      {%- do values.append(column.sql ~ ' as _dbt_key_' ~ loop.index) -%}
      {%- do names.append(dict(column, sql='_dbt_key_' ~ loop.index)) -%}
      {%- do staged.append(
          'assumeNotNull(_dbt_key_' ~ loop.index ~ ') as ' ~ versioned_collapsing.quote_name(column.name)
      ) -%}
    {%- endfor -%}
    {%- do selects.append(
        'select ' ~ staged | join(', ') ~ ' from (select ' ~ values | join(', ') ~ ' from ' ~ relation ~ ') where '
        ~ versioned_collapsing._get_is_known_sql(table, names, secret)
    ) -%}
  {%- endfor -%}
  ({{ selects | join(' union all ') }})
{%- endmacro %}

{# The tables in `also`: `orders`, `landing.orders`. #}
{% macro _get_named_relations(table, also) %}
  {%- set named = [] -%}
  {%- for name in versioned_collapsing.as_list(also) -%}
    {%- set schema, identifier = ([table.schema] + name.split('.', 1))[-2:] -%}
    {%- do named.append(table.incorporate(path={'schema': schema, 'identifier': identifier})) -%}
  {%- endfor -%}
  {%- do return(named) -%}
{% endmacro %}

{# From here on, changes of the keys are left out. #}
{% macro _remember_hashes(table, subject, apply) %}
  {%- set forgotten = versioned_collapsing.get_forgotten_relation(table) -%}
  {% call statement('remember_hashes') -%}
    insert into {{ forgotten }} (hash, run_id)
    select
      {{ versioned_collapsing.get_forgotten_hash_sql(subject.columns, subject.secret) }} as _dbt_hash,
      {{ versioned_collapsing.quote_literal(apply.run_id) }}
    from {{ subject.relation }}
    where _dbt_hash not in (select hash from {{ forgotten }})
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
{% endmacro %}

{# The versioned_collapsing_view models on the table that are built, each with its node and relation. #}
{% macro _read_views_of(node) %}
  {%- set views = [] -%}
  {%- for view in versioned_collapsing.get_dependents(node) | selectattr('config.materialized', 'equalto',
      'versioned_collapsing_view') | sort(attribute='unique_id') -%}
    {%- set relation = adapter.get_relation(view.database, view.schema, view.alias) -%}
    {%- if relation is not none -%}
      {%- do views.append({'node': view, 'relation': relation}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(views) -%}
{% endmacro %}

{# Runs have dropped staged tables and old copies of views, and users a change feed, which ClickHouse keeps on the disk
   for eight minutes. They are brought back, and dropped at once. #}
{% macro _remove_dropped_tables(relations, apply) %}
  {%- set conditions = [] -%}
  {%- for relation in relations -%}
    {%- set own = versioned_collapsing.get_relations_with_rows(relation) | map(attribute='identifier') -%}
    {%- do conditions.append(
        'database = ' ~ versioned_collapsing.quote_literal(relation.schema) ~ ' and (table in ('
        ~ versioned_collapsing.quote_literals(own) ~ ') or startsWith(table, '
        ~ versioned_collapsing.quote_literal(relation.identifier ~ '__dbt_') ~ '))'
    ) -%}
  {%- endfor -%}
  {%- set query -%}
    select database, table, toString(uuid) as _dbt_id
    from system.dropped_tables
    where ({{ conditions | join(' or ') }})
      and (database, table) not in (select database, name from system.tables)
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- set dropped = relations[0].incorporate(path={'schema': row['database'], 'identifier': row['table']}) -%}
    {%- do run_query('undrop table ' ~ dropped ~ ' uuid ' ~ versioned_collapsing.quote_literal(row['_dbt_id'])) -%}
    {%- do versioned_collapsing.drop_tables([dropped]) -%}
  {%- endfor -%}
{% endmacro %}

{# The tables in which the keys are searched: the table, its companions, what materialized views fill, and every other
   table of the server that has columns with the names of the key.

   - relation, has_key: whether it has these columns; condition: that a row has one of the keys
   - is_ours: whether rows are removed; otherwise `how` says what happens instead #}
{% macro _read_places(table, options, subject, views, also, apply) %}
  {%- set found = versioned_collapsing.read_tables_beside(table) -%}
  {%- set places = [] -%}
  {%- for relation in versioned_collapsing.get_relations_with_rows(table) if relation.identifier in found -%}
    {%- do places.append({
        'relation': relation, 'has_key': true, 'condition': subject.is_forgotten, 'is_ours': true, 'how': 'removed'
    }) -%}
  {%- endfor -%}
  {%- set with_key = versioned_collapsing._read_tables_with_key(subject, apply) -%}
  {%- set conditions = {} -%}
  {%- for name, found in with_key.items() -%}
    {%- set key = versioned_collapsing._get_cast_key(subject.columns, types=found.types) -%}
    {%- do conditions.update({name: versioned_collapsing._get_has_key_sql(key, subject.relation)}) -%}
  {%- endfor -%}
  {%- set fed = versioned_collapsing.read_views(table).tables -%}
  {%- for relation in fed -%}
    {%- do places.append({
        'relation': relation, 'has_key': relation | string in with_key, 'condition': conditions.get(relation | string),
        'is_ours': true, 'how': 'removed' if relation | string in with_key else 'merged'
    }) -%}
  {%- endfor -%}
  {%- for view in views -%}
    {%- do places.append({
        'relation': view.relation, 'has_key': view.relation | string in with_key,
        'condition': conditions.get(view.relation | string), 'is_ours': false, 'how': 'filled again'
    }) -%}
  {%- endfor -%}
  {%- set known = places | map(attribute='relation') | map('string') | list + [subject.relation | string] -%}
  {%- set named = versioned_collapsing._get_named_relations(table, also) | map('string') | list -%}
  {%- do versioned_collapsing._validate_also(options, named, with_key, apply) -%}
  {%- for name, found in with_key.items() if name not in known -%}
    {%- do places.append({
        'relation': found.relation, 'has_key': true, 'condition': conditions[name], 'is_ours': name in named,
        'how': 'removed' if name in named else 'not ours'
    }) -%}
  {%- endfor -%}
  {%- do return(places + versioned_collapsing._read_out_of_reach(with_key, apply)) -%}
{% endmacro %}

{# What has rows out of reach: the backups that the server remembers, and of tables with the key the detached parts, and
   tables that had their names and were dropped within the last minutes. #}
{% macro _read_out_of_reach(with_key, apply) %}
  {%- set names = [] -%}
  {%- for found in with_key.values() -%}
    {%- set name = [found.relation.schema, found.relation.identifier] -%}
    {%- do names.append('(' ~ versioned_collapsing.quote_literals(name) ~ ')') -%}
  {%- endfor -%}
  {%- set is_named = '(database, table) in (' ~ names | join(', ') ~ ')' -%}
  {%- set query -%}
    select distinct place
    from (
      select name || ' of ' || toString(toDateTime(start_time, 'UTC')) || ' UTC' as place
      from merge('system', '^backup(s$|_log)')
      where status = 'BACKUP_CREATED'
      {%- for source, text in {'detached_parts': 'detached parts of ', 'dropped_tables': 'dropped table '}.items() %}
      union all
      select {{ versioned_collapsing.quote_literal(text) }} || database || '.' || table as place
      from system.{{ source }}
      where {{ is_named }}
      {%- endfor %}
    )
    order by place
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set places = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do places.append({'name': row['place'], 'has_key': false, 'is_ours': false, 'how': 'not reached'}) -%}
  {%- endfor -%}
  {%- do return(places) -%}
{% endmacro %}

{# The tables of the server that have all columns of the key, by name: their relation, the types of these columns by
   name, and whether ClickHouse can delete from them. #}
{% macro _read_tables_with_key(subject, apply=none) %}
  {%- set names = subject.columns | map(attribute='name') | list -%}
  {%- set query -%}
    select
      database,
      name,
      toUInt8(not endsWith(engine, 'Log')) as _dbt_can_delete,
      toJSONString(_dbt_types) as _dbt_json
    from system.tables
    inner join (
      select
        database as _dbt_database,
        table as _dbt_table,
        cast((groupArray(name), groupArray(type)), 'Map(String, String)') as _dbt_types
      from system.columns
      where name in ({{ versioned_collapsing.quote_literals(names) }}) and database <> 'system'
      group by database, table
      having count() = {{ names | length }}
    ) as _dbt_columns
      on database = _dbt_database and name = _dbt_table
    where match(engine, 'MergeTree$|Log$|^Memory$') and not is_temporary
    order by database, name
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set tables = {} -%}
  {%- for row in run_query(query).rows -%}
    {%- set relation = subject.relation.incorporate(path={'schema': row['database'], 'identifier': row['name']}) -%}
    {%- do tables.update({relation | string: {
        'relation': relation, 'can_delete': row['_dbt_can_delete'] | int == 1,
        'types': fromjson(row['_dbt_json'])
    }}) -%}
  {%- endfor -%}
  {%- do return(tables) -%}
{% endmacro %}

{# `with_key`: of `_read_tables_with_key`. #}
{% macro _validate_also(options, named, with_key, apply) %}
  {%- set unusable = named | reject('in', with_key) | list -%}
  {%- for name in named if name in with_key and not with_key[name].can_delete -%}
    {%- do unusable.append(name) -%}
  {%- endfor -%}
  {%- if unusable -%}
    {%- do versioned_collapsing.stop_run(apply,
        "forget: `also` names " ~ unusable | join(', ') ~ ". A table from which rows can be removed has the columns "
        ~ options.unique_key | join(', ') ~ " and an engine that can delete: not Log, StripeLog or TinyLog. Correct "
        ~ "the name, or remove the rows yourself."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Materialized views see only what is inserted. So they get the opposites of the rows, by a numbered apply. #}
{% macro _cancel_in_materialized_views(table, options, columns, subject, apply) %}
  {%- set sign = versioned_collapsing.quote_name(options.sign) -%}
  {%- set names = versioned_collapsing.quote_names(columns.names) -%}
  {%- if not versioned_collapsing.read_views(table).tables -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set nets -%}
    select {{ names }}, -sum({{ sign }}) as _dbt_missing
    from {{ table }}
    where {{ subject.is_forgotten }}
    group by {{ names }}
    having _dbt_missing <> 0
    {{ versioned_collapsing.get_settings_sql(apply, {'allow_suspicious_types_in_group_by': 1}) }}
  {%- endset -%}
  {%- set query -%}
    select sumIf(_dbt_missing, _dbt_missing > 0) as states, -sumIf(_dbt_missing, _dbt_missing < 0) as cancels
    from ({{ nets }})
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set counts = {'broken_keys': 0, 'states': found['states'] | int, 'cancels': found['cancels'] | int} -%}
  {%- if counts.states or counts.cancels -%}
    {%- do versioned_collapsing.write_repairs(
        table, options, columns, nets, counts, dict(apply, is_stream=true, run_id=local_md5(apply.run_id ~ 'cancel'))
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Lets the ledger and the note in the feed say what will be left, before rows go: then a killed operation can be
   repeated, and ends with the same numbers. History needs all rows of an apply, and these are all of them now. #}
{% macro _settle_accounts(table, options, subject, apply) %}
  {%- set ledger = versioned_collapsing.get_ledger_relation(table) -%}
  {%- set feed = versioned_collapsing.get_feed_relation(table) -%}
  {%- set run_id = versioned_collapsing.quote_literal(apply.run_id) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- set is_counted = "status = 'forgotten' and apply = 0 and run_id = " ~ run_id -%}
  {%- if not versioned_collapsing.read_row_count(ledger, is_counted) -%}
    {%- set query -%}
      select
        (select count() from {{ subject.relation }}) as _dbt_keys,
        sum({{ versioned_collapsing.quote_name(options.sign) }}) as _dbt_net
      from {{ table }}
      where {{ subject.is_forgotten }}
      {{ versioned_collapsing.get_settings_sql(apply) }}
    {%- endset -%}
    {%- set found = run_query(query).rows[0] -%}
    {%- set net = found['_dbt_net'] | int -%}
    {%- set counts = {'keys': found['_dbt_keys'] | int, 'cancels': [net, 0] | max, 'states': [-net, 0] | max} -%}
    {%- do versioned_collapsing.record_apply(
        table, apply, dict(versioned_collapsing.get_initial_progress(), counts=counts), 'forgotten'
    ) -%}
  {%- endif -%}
  {%- if versioned_collapsing.read_feed_columns(table, feed).feed -%}
    {%- do run_query(versioned_collapsing._get_settle_feed_sql(table, feed, ledger, subject, apply)) -%}
    {%- set comment = versioned_collapsing.read_tables([feed])[feed.identifier].comment -%}
    {%- set left = versioned_collapsing.read_row_count(feed, '_apply = 0 and not ' ~ subject.is_forgotten) -%}
    {%- set settled = modules.re.sub('Begins with \\d+ rows', 'Begins with ' ~ left ~ ' rows', comment) -%}
    {%- if settled != comment -%}
      {%- do versioned_collapsing.comment_table(feed, settled) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}

{% macro _get_settle_feed_sql(table, feed, ledger, subject, apply) -%}
  {%- set model = versioned_collapsing.quote_literal(apply.model) -%}
  {%- set uuid = versioned_collapsing.get_table_uuid_sql(table) -%}
  insert into {{ ledger }} (model, target_uuid, invocation_id, run_id, status, at, apply, signed_rows)
  select
    {{ model }},
    {{ uuid }},
    {{ versioned_collapsing.quote_literals([invocation_id, apply.run_id, 'forgotten']) }},
    {{ versioned_collapsing.get_later_time_sql(ledger, 'at', 'model = ' ~ model) }},
    _apply,
    countIf(not {{ subject.is_forgotten }})
  from {{ feed }}
  where _apply in (select _apply from {{ feed }} where {{ subject.is_forgotten }})
    and _apply in (select apply from {{ ledger }} where target_uuid = {{ uuid }} and apply > 0)
  group by _apply
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}

{# Removes the rows, and the old parts that have them, from the disk: first those that readers see, then those that
   somebody has deleted (`delete from`), which stay in the parts. If a table has no key, a merge removes rows that add
   up to nothing. #}
{% macro _erase(place, apply) %}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- if not place.has_key -%}
    {%- do run_query('optimize table ' ~ place.relation ~ ' final') -%}
  {%- else -%}
    {%- for change in ('delete where ' ~ place.condition, 'apply deleted mask')
        if versioned_collapsing.read_row_count(place.relation, place.condition, {'apply_deleted_mask': 0}) -%}
      {%- do versioned_collapsing.alter_table(
          place.relation, change,
          versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 2, 'allow_nondeterministic_mutations': 1})
      ) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do versioned_collapsing._drop_old_parts(place.relation) -%}
{% endmacro %}

{# ClickHouse keeps the parts that a mutation has replaced for eight minutes. A statement that drops parts also removes
   those whose time is over, so the time is set to nothing meanwhile. #}
{% macro _drop_old_parts(relation) %}
  {%- set found = versioned_collapsing.read_tables([relation])[relation.identifier] -%}
  {%- if modules.re.match('(?!Replicated|Shared)\\w*MergeTree$', found.engine) -%}
    {%- set own = modules.re.findall('old_parts_lifetime = ([1-9]\\d*)', found.engine_full) -%}
    {%- set alter = 'alter table ' ~ relation -%}
    {%- do run_query(alter ~ ' modify setting old_parts_lifetime = 0') -%}
    {%- do run_query(alter ~ " drop partition id 'none'") -%}
    {%- do run_query(
        alter ~ (' modify setting old_parts_lifetime = ' ~ own[0] if own else ' reset setting old_parts_lifetime')
    ) -%}
  {%- endif -%}
{% endmacro %}

{# `reconcile` has noted keys: those that differed, and the bounds of ranges. #}
{% macro _erase_verifications(table, subject, apply) %}
  {%- set verifications = versioned_collapsing.get_verifications_relation(table) -%}
  {%- if versioned_collapsing.read_tables([verifications]) -%}
    {%- set text = 'toString(tuple(' ~ subject.names ~ '))' -%}
    {%- set condition -%}
      model = {{ versioned_collapsing.quote_literal(apply.model) }}
      and arrayExists(
        _dbt_each -> _dbt_each in (lower, upper) or position(differing_keys, _dbt_each) > 0,
        (
          select groupUniqArrayArray([{{ text }}, {{ versioned_collapsing.get_shown_text_sql(text) }}])
          from {{ subject.relation }}
        )
      )
    {%- endset -%}
    {%- do versioned_collapsing._erase(
        {'relation': verifications, 'has_key': true, 'condition': condition}, apply
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Fills a view from its tables: whatever it groups by, nothing of the keys is left. #}
{% macro _fill_view_again(view, node, apply) %}
  {%- set sql = render(view.node.raw_code) -%}
  {%- set options = versioned_collapsing.get_view_options(view.node.config, view.node, view.relation, sql) -%}
  {#- The locks of views are those of this run, and not of a killed one that it continues. -#}
  {%- set apply = dict(apply, model=view.node.name, run_id=apply.lock.run_id if apply.lock else apply.run_id) -%}
  {%- set others = options.sources | rejectattr('node.unique_id', 'equalto', node.unique_id) | list -%}
  {%- do versioned_collapsing.acquire_source_locks(others, apply) -%}
  {%- for source in others -%}
    {%- do versioned_collapsing.recover_source(source, apply) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.fill_view(
      view.relation, view.relation, options, versioned_collapsing.read_view_state(view.relation, options),
      versioned_collapsing.read_source_columns(options.sources), apply, sql
  ) -%}
  {%- do versioned_collapsing.give_up_source_locks(others, apply) -%}
{% endmacro %}

{# The certificates: what was searched, what was found there, and what is left. #}
{% macro _get_certificates_relation(table) %}
  {%- do return(table.incorporate(path={'identifier': 'versioned_collapsing_certificates'}, type='table')) -%}
{% endmacro %}

{% macro _create_certificates(table) %}
  {% call statement('create_certificates') -%}
    create table if not exists {{ versioned_collapsing._get_certificates_relation(table) }}
    {{ on_cluster_clause(table) }} (
      model String comment 'Name of the model',
      target_uuid UUID comment 'UUID of the table',
      invocation_id String comment 'ID of the dbt invocation',
      run_id String comment 'ID of the forgetting, the same after it was killed and repeated',
      status LowCardinality(String) comment 'found: before rows were removed; checked: later; else what was done',
      at DateTime64(6, 'UTC') comment 'When the row was written',
      keys UInt64 comment 'Keys that were forgotten',
      place String comment 'Where the keys were searched',
      found Nullable(UInt64) comment 'Rows of the keys; null if the place has no columns of the key',
      left Nullable(UInt64) comment 'Rows of the keys that are still there',
      lines Array(UInt64) comment 'Numbers of the lines that are still in a file'
    )
    engine = {{ versioned_collapsing.get_engine_name(table, 'MergeTree') }}
    order by (model, at)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}

{# Counts the rows of the keys in all places. With the status `found`, they are those before the removal. Otherwise they
   are those that are left, and the row is the certificate. #}
{% macro _record_places(table, keys, places, status, apply) %}
  {%- do versioned_collapsing._create_certificates(table) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {% call statement('record_places') -%}
    {{ versioned_collapsing._get_record_places_sql(table, keys, places, status, apply) }}
  {%- endcall %}
{% endmacro %}

{% macro _get_record_places_sql(table, keys, places, status, apply) -%}
  {%- set certificates = versioned_collapsing._get_certificates_relation(table) -%}
  {%- set run_id = versioned_collapsing.quote_literal(apply.run_id) -%}
  insert into {{ certificates }} (
    model, target_uuid, invocation_id, run_id, status, at, keys, place, found, left, lines
  )
  select
    {{ versioned_collapsing.quote_literal(apply.model) }},
    {{ versioned_collapsing.get_table_uuid_sql(table) }},
    {{ versioned_collapsing.quote_literals([invocation_id, apply.run_id]) }},
    _dbt_status,
    now64(6, 'UTC'),
    (select count() from {{ keys }}),
    _dbt_place,
    {%- if status == 'found' %}
    _dbt_n,
    _dbt_n
    {%- else %}
    greatest(_dbt_n, _dbt_found),
    _dbt_n
    {%- endif %},
    _dbt_lines
  from (
    {%- for place in places %}
    select
      {{ versioned_collapsing.quote_literal(status if status == 'found' else place.how) }} as _dbt_status,
      {{ versioned_collapsing.quote_literal(place.name or place.relation.schema ~ '.' ~ place.relation.identifier) }}
        as _dbt_place,
      cast({{ '(select count() from ' ~ place.relation ~ ' where ' ~ place.condition ~ ')' if place.has_key
        else 'null' if place.count is not defined else place.count }}, 'Nullable(UInt64)') as _dbt_n,
      cast({{ place.numbers or [] }}, 'Array(UInt64)') as _dbt_lines
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
  ) as _dbt_places
  {%- if status != 'found' %}
  left any join (
    select place as _dbt_place, max(found) as _dbt_found
    from {{ certificates }}
    where run_id = {{ run_id }} and status = 'found'
    group by place
  ) as _dbt_before using (_dbt_place)
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(apply, {'apply_deleted_mask': 0}) }}
{%- endmacro %}

{% macro _log_certificate(table, apply) %}
  {%- set query -%}
    select place, status, keys, if(status = 'removed', found - left, found) as n, toString(lines) as lines
    from {{ versioned_collapsing._get_certificates_relation(table) }}
    where run_id = {{ versioned_collapsing.quote_literal(apply.run_id) }} and status <> 'found'
      and invocation_id = {{ versioned_collapsing.quote_literal(invocation_id) }}
      and (found > 0 or status <> 'not ours')
    order by status like 'not %', place
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set rows = run_query(query).rows -%}
  {%- set lines = [] -%}
  {%- for row in rows -%}
    {%- set found = 'rows' if row['n'] is none else versioned_collapsing.format_count(row['n'], 'row') -%}
    {%- do lines.append('  ' ~ row['place'] ~ ': ' ~ (
        row['status'] ~ (', lines ' ~ row['lines'][1:-1] if row['lines'] != '[]' else '')
        if row['status'] in ('dropped', 'filled again', 'not reached') else found ~ ' ' ~ (
            'found, not removed: the model does not own the table. To remove rows, name it in `also`'
            if row['status'] == 'not ours' else row['status']
        ))
    ) -%}
  {%- endfor -%}
  {%- do log(
      'Forgot ' ~ versioned_collapsing.format_count(rows[0]['keys'], 'key') ~ ' of ' ~ table ~ ', certificate '
      ~ apply.run_id ~ ':\n' ~ lines | join('\n'), info=true
  ) -%}
{% endmacro %}

{# Searches again for all keys of a table that were forgotten, as `reconcile` without a reference. A row where the
   certificate says that there is none is an error. #}
{% macro check_certificates(model) %}
  {%- set node = versioned_collapsing.get_collapsing_node('reconcile', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('reconcile', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set forgotten = versioned_collapsing.get_forgotten_relation(table) -%}
  {%- set found = versioned_collapsing.read_tables_beside(table) -%}
  {%- do versioned_collapsing._validate_has_certificates(table, forgotten.identifier in found) -%}
  {%- set apply = versioned_collapsing.get_apply(node, table) -%}
  {%- set secret = versioned_collapsing.read_secret(forgotten, found[forgotten.identifier], apply) -%}
  {%- set columns = versioned_collapsing.read_described_columns(table, options) -%}
  {%- set key_columns = versioned_collapsing._get_key_columns(versioned_collapsing.get_source_key(node), columns) -%}
  {%- set places = [] -%}
  {%- for other in versioned_collapsing._read_tables_with_key(
      {'relation': table, 'columns': key_columns}, apply
  ).values() -%}
    {%- set key = versioned_collapsing._get_cast_key(key_columns, types=other.types) -%}
    {%- do places.append({
        'relation': other.relation, 'has_key': true, 'how': 'checked',
        'condition': versioned_collapsing._get_is_known_sql(table, key, secret)
    }) -%}
  {%- endfor -%}
  {%- for place in versioned_collapsing.read_places_of_files(node, {
      'columns': key_columns, 'secret': secret, 'table': table, 'seeks_known': true
  }) if place.lines is defined -%}
    {%- do places.append(dict(place, how='checked')) -%}
  {%- endfor -%}
  {%- do versioned_collapsing._record_places(table, forgotten, places, 'checked', apply) -%}
  {%- set certificates = versioned_collapsing._get_certificates_relation(table) -%}
  {%- set query -%}
    select place, left - _dbt_left as n
    from {{ certificates }}
    inner any join (
      select place, argMax(ifNull(left, 0), at) as _dbt_left
      from {{ certificates }}
      where model = {{ versioned_collapsing.quote_literal(apply.model) }}
        and status in ('removed', 'filled again', 'merged')
      group by place
    ) as _dbt_removed using (place)
    where run_id = {{ versioned_collapsing.quote_literal(apply.run_id) }}
      and left > _dbt_left
    order by place
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set back = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do back.append(row['place'] ~ ' (' ~ versioned_collapsing.format_count(row['n'], 'row') ~ ')') -%}
  {%- endfor -%}
  {%- do versioned_collapsing._validate_nothing_is_back(node, back) -%}
  {%- do log(
      'No row of ' ~ versioned_collapsing.format_count(found[forgotten.identifier].row_count, 'forgotten key') ~ ' of '
      ~ table ~ ' is in any of ' ~ versioned_collapsing.format_count(places | length, 'place')
      ~ ' with the columns of the key', info=true
  ) -%}
{% endmacro %}

{% macro _validate_has_certificates(table, has_certificates) %}
  {%- if not has_certificates -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: there is no `reference`. Give a model or a table to compare with. Without one, reconcile searches "
        ~ "for keys that `forget` has removed, and none of " ~ table ~ " were."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# What is back is in the database, and in nothing that dbt compiles. #}
{% macro _validate_nothing_is_back(node, back) %}
  {%- if back -%}
    {%- do exceptions.raise_database_error(
        "reconcile: forgotten keys are back in " ~ back | join(', ') ~ ". Find out who brings them back. To remove "
        ~ "them: dbt run-operation forget --args '{model: " ~ node.name ~ "}', with `also` for tables that the model "
        ~ "does not own."
    ) -%}
  {%- endif -%}
{% endmacro %}
