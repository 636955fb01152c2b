{# Stages one chunk of the changes: a range of keys, so that its look-up reads only a part of the table. If there is
   only one chunk, it is staged already. Returns the number of changes in the chunk. #}
{% macro stage_chunk(target_relation, options, columns, chunk, progress, apply) %}
  {%- if options.chunks == 1 -%}
    {%- do return(progress.change_count) -%}
  {%- endif -%}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'changes') -%}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, progress.source) -%}
  {%- set names = get_quoted_csv(columns.names)
      ~ (', _dbt_unset, _dbt_is_reset, _dbt_batch, _dbt_unmerged' if columns.is_folded else '')
      ~ ', _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_problem' -%}
  {%- do versioned_collapsing.prepare_staged_table(
      changes, versioned_collapsing.get_create_staged_changes_sql(changes, options, columns), apply,
      is_filled=chunk > progress.chunk
  ) -%}
  {% call statement('stage_chunk') -%}
    insert into {{ changes }} ({{ names }})
    select {{ names }}
    from {{ source }}
    where {{ versioned_collapsing.get_chunk_condition_sql(source, options, chunk, progress.change_count) }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
  {%- do return(versioned_collapsing.read_row_count(changes)) -%}
{% endmacro %}


{# The number of changes in earlier chunks, for an apply that is resumed. #}
{% macro read_row_count_before_chunk(target_relation, options, progress) %}
  {%- if progress.chunk == 1 -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, progress.source) -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set boundary = versioned_collapsing.get_boundary_sql(
      source, options, progress.chunk - 1, progress.change_count
  ) -%}
  {%- do return(versioned_collapsing.read_row_count(source, key ~ ' < ' ~ boundary)) -%}
{% endmacro %}


{# Removes what this chunk and later ones have gathered, after a run died in one of them. #}
{% macro drop_gathered_from_chunk(target_relation, options, progress, apply) %}
  {%- set source = versioned_collapsing.get_helper_relation(target_relation, progress.source) -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set boundary = versioned_collapsing.get_boundary_sql(
      source, options, progress.chunk - 1, progress.change_count
  ) -%}
  {%- for role in versioned_collapsing.get_gathered_roles(apply) -%}
    {%- set gathered = versioned_collapsing.get_helper_relation(target_relation, role) -%}
    {%- if apply.staged.get(gathered.identifier) -%}
      {%- do run_query(
          'alter table ' ~ gathered ~ ' delete where ' ~ key ~ ' >= ' ~ boundary ~ ' '
          ~ versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 1})
      ) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{# The tables to which each chunk adds. #}
{% macro get_gathered_roles(apply) %}
  {%- do return(['signed', 'resolved_set'] + (['deletes'] if apply.remembers_deletes else [])) -%}
{% endmacro %}
