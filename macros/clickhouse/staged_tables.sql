{# The staged changes that are decided, to select from: all of them, or those of one chunk. #}
{% macro get_input_sql(target_relation, options) %}
  {%- set relation = versioned_collapsing.get_helper_relation(target_relation, options.changes) -%}
  {%- do return(
      relation if options.chunks == 1 else '(select * from ' ~ relation ~ ' where _dbt_chunk = ' ~ options.chunk ~ ')'
  ) -%}
{% endmacro %}

{# What system.tables says about the target, its tombstones, feed, ledger and forgotten keys, and the tables staged or
   built beside it, by identifier. #}
{% macro read_tables_beside(target_relation) %}
  {%- set query = 'select ' ~ versioned_collapsing.get_tables_beside_sql(target_relation) ~ ' as tables '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- do return(versioned_collapsing.get_tables(run_query(query).rows[0]['tables'])) -%}
{% endmacro %}

{% macro get_tables_beside_sql(target_relation) %}
  {%- do return(versioned_collapsing.get_tables_sql(
      versioned_collapsing.get_relations_of(target_relation),
      versioned_collapsing.get_helper_relation(target_relation, '').identifier
  )) -%}
{% endmacro %}

{# What system.tables says about the table of a model, its tombstones, and the two tables that a full refresh builds
   beside them; none for a table that does not exist. `leftover`: the names of all tables that a full refresh that died
   has left. `staged`: all of them, and the tables staged beside the target, by identifier. #}
{% macro read_tables_of(this) %}
  {%- do return(versioned_collapsing.get_tables_of(this, versioned_collapsing.read_tables_beside(this))) -%}
{% endmacro %}

{% macro get_tables_of(this, found) %}
  {%- set build = versioned_collapsing.get_helper_relation(this, 'build').identifier -%}
  {%- set leftover = [] -%}
  {%- for name in found if name == build or name.startswith(build ~ '__') -%}
    {%- do leftover.append(name) -%}
  {%- endfor -%}
  {%- do return({
      'target': found.get(this.identifier),
      'tombstones': found.get(versioned_collapsing.get_tombstones_relation(this).identifier),
      'build': found.get(build),
      'build_tombstones': found.get(build ~ '__tombstones'),
      'leftover': leftover,
      'staged': found,
  }) -%}
{% endmacro %}

{# The target and its lasting companions. #}
{% macro get_relations_of(target_relation) %}
  {%- do return(versioned_collapsing.get_relations_with_rows(target_relation) + [
      versioned_collapsing.get_ledger_relation(target_relation),
      versioned_collapsing.get_forgotten_relation(target_relation),
  ]) -%}
{% endmacro %}

{# The target, and its companions with keys and values of its rows. #}
{% macro get_relations_with_rows(target_relation) %}
  {%- do return([
      target_relation,
      versioned_collapsing.get_tombstones_relation(target_relation),
      versioned_collapsing.get_feed_relation(target_relation),
  ]) -%}
{% endmacro %}

{# Empties the tables that a whole apply has filled. The table of the rows to publish is dropped instead, together with
   the lock: ClickHouse would write an empty part for each of its partitions. #}
{% macro release_staged(target_relation, options, columns, counts) %}
  {%- set roles = ['input', 'uncollapsed'] -%}
  {%- do roles.extend(['deletes'] if counts.has_deletes and options.remember_deletes else []) -%}
  {%- do roles.extend(['unbalanced'] if counts.rebalanced else []) -%}
  {%- do roles.extend(['folded'] if columns.is_folded else []) -%}
  {%- do versioned_collapsing.empty_staged(target_relation, roles) -%}
{% endmacro %}

{% macro empty_staged(target_relation, roles) %}
  {%- for role in roles -%}
    {%- do run_query('truncate table ' ~ versioned_collapsing.get_helper_relation(target_relation, role)) -%}
  {%- endfor -%}
{% endmacro %}

{% macro drop_staged(target_relation, roles=none) %}
  {%- set relations = [] -%}
  {%- for role in roles or versioned_collapsing.get_staged_roles() -%}
    {%- do relations.append(versioned_collapsing.get_helper_relation(target_relation, role) | string) -%}
  {%- endfor -%}
  {%- do run_query('drop table if exists ' ~ relations | join(', ')) -%}
{% endmacro %}

{# The tables that an apply stages. After it, all of them except `signed` stay for the next apply, empty. #}
{% macro get_staged_roles() %}
  {%- do return(
      ['read', 'input', 'folded', 'uncollapsed', 'unbalanced', 'signed', 'deletes']
  ) -%}
{% endmacro %}

{# Makes sure that an empty table with the structure of another one exists: with its columns, keys, indexes and
   projections, so that parts can be attached to the other table. #}
{% macro prepare_attachable(attachable, relation, apply, is_new=false) %}
  {%- set found = apply.staged[relation.identifier] -%}
  {%- do versioned_collapsing.prepare_staged_table(
      attachable, versioned_collapsing.get_create_attachable_sql(attachable, relation, found), apply, is_new=is_new,
      table_settings=versioned_collapsing._get_attachable_settings_sql(found)
  ) -%}
{% endmacro %}

{# Makes sure that a staged table exists and is empty. It reuses the table of an earlier apply if that was made in the
   same way and need not be new. `create_sql` ends before the settings. `is_filled`: whether this apply has filled
   it. #}
{% macro prepare_staged_table(relation, create_sql, apply, is_filled=false, is_new=false, table_settings='') %}
  {%- set found = apply.staged.get(relation.identifier) -%}
  {%- set made_by = versioned_collapsing.get_staged_comment(create_sql) -%}
  {%- if is_filled or (found and found.comment == made_by and not is_new) -%}
    {%- if is_filled or found.row_count | int -%}
      {%- do run_query('truncate table ' ~ relation) -%}
    {%- endif -%}
  {%- else -%}
    {%- if found -%}
      {%- do run_query('drop table ' ~ relation) -%}
    {%- endif -%}
    {% call statement('create_staged_table') -%}
      {{ create_sql }}
      {{ versioned_collapsing.get_settings_sql(more=versioned_collapsing.get_staging_settings()) }}
      {{- ', ' ~ table_settings if table_settings }}
      comment {{ versioned_collapsing.quote_literal(made_by) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}

{# A comment that says how a staged table was made. #}
{% macro get_staged_comment(create_sql) %}
  {%- do return('Staged by versioned_collapsing ' ~ local_md5(create_sql)) -%}
{% endmacro %}

{# Staged tables are never merged, because rows that are attached later must stay in the parts in which they were
   written. So they may have any number of parts, and no insert waits for a merge. #}
{% macro get_staging_settings() %}
  {%- set most = 1000000000 -%}
  {%- do return({
      'max_bytes_to_merge_at_max_space_in_pool': 0,
      'max_number_of_merges_with_ttl_in_pool': 0,
      'parts_to_delay_insert': most,
      'parts_to_throw_insert': most,
      'inactive_parts_to_delay_insert': 0,
      'inactive_parts_to_throw_insert': 0,
      'max_parts_in_total': most,
  }) -%}
{% endmacro %}

{# An attachable table is never replicated, even if the other table is: only this apply needs it. #}
{% macro get_create_attachable_sql(attachable, relation, found) -%}
  {%- set text = "'(?:[^'\\\\]|\\\\.)*'" -%}
  {%- set engine = modules.re.sub(
      '^(?:Replicated|Shared)(\\w*MergeTree)\\(' ~ text ~ ', ' ~ text ~ '(?:, )?', '\\1(',
      found.engine_full.rsplit(' SETTINGS ', 1)[0]
  ) -%}
  {#- The structure of the other table. If it changes, except for comment and settings, a new attachable table is made.
      -#}
  {%- set query = modules.re.sub(' COMMENT ' ~ text ~ '$', '', found.create_table_query) -%}
  {%- set structure = query.rsplit(' SETTINGS ', 1)[0] -%}
  /* {{ local_md5(structure) }} */
  create table {{ attachable }} as {{ relation }}
  engine = {{ engine }}
{%- endmacro %}

{# The settings of the other table, except those that all staged tables set. #}
{% macro _get_attachable_settings_sql(found) %}
  {%- set own = versioned_collapsing.get_staging_settings() -%}
  {%- set settings = [] -%}
  {%- for setting in versioned_collapsing.split_top_level((found.engine_full.rsplit(' SETTINGS ', 1) + [''])[1]) -%}
    {%- do settings.append(setting) if setting.split(' = ')[0] not in own -%}
  {%- endfor -%}
  {%- do return(settings | join(', ')) -%}
{% endmacro %}
