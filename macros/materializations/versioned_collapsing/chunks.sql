{# Stages one chunk of the change set: a range of keys, so that its look-up reads a part of the table. #}
{% macro stage_chunk(target, options, chunk, run) %}
  {%- set changes = versioned_collapsing.get_helper_relation(target, 'changes') -%}
  {%- set change_set = versioned_collapsing.get_helper_relation(target, 'change_set') -%}
  {%- do run_query('drop table if exists ' ~ changes) -%}
  {% call statement('create_chunk') -%}
    create table {{ changes }} as {{ change_set }} {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {% call statement('stage_chunk') -%}
    insert into {{ changes }}
    select *
    from {{ change_set }}
    where {{ versioned_collapsing.get_chunk_condition_sql(target, options, chunk) }}
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endcall %}
{% endmacro %}


{# The keys from one boundary to the next; the boundaries cut the staged keys into equal parts. #}
{% macro get_chunk_condition_sql(target, options, chunk) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set from_key = versioned_collapsing._get_boundary_sql(target, options, chunk - 1) -%}
  {%- set to_key = versioned_collapsing._get_boundary_sql(target, options, chunk) -%}
  {%- set bounds = [] -%}
  {%- if chunk > 1 -%}
    {%- do bounds.append('tuple(' ~ key ~ ') >= ' ~ from_key) -%}
  {%- endif -%}
  {%- if chunk < options.chunks -%}
    {%- do bounds.append('tuple(' ~ key ~ ') < ' ~ to_key) -%}
  {%- endif -%}
  {{ bounds | join(' and ') or 'true' }}
{%- endmacro %}


{% macro _get_boundary_sql(target, options, chunk) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set change_set = versioned_collapsing.get_helper_relation(target, 'change_set') -%}
  (
    select max(_dbt_boundary)
    from (
      select tuple({{ key }}) as _dbt_boundary, row_number() over (order by {{ key }}) as _dbt_position
      from {{ change_set }}
    )
    where _dbt_position = 1 + intDiv((select count() from {{ change_set }}) * {{ chunk }}, {{ options.chunks }})
  )
{%- endmacro %}


{# The rows that chunks before this one have, of an apply that is taken up again. #}
{% macro count_rows_before_chunk(target, options, chunk) %}
  {%- if chunk == 1 -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set query -%}
    select count() as _dbt_n
    from {{ versioned_collapsing.get_helper_relation(target, 'change_set') }}
    where {{ key }} < {{ versioned_collapsing._get_boundary_sql(target, options, chunk - 1) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['_dbt_n'] | int) -%}
{% endmacro %}


{% macro count_staged_rows(target, role='changes') %}
  {%- do return(run_query('select count() as _dbt_n from ' ~ versioned_collapsing.get_helper_relation(target, role) ~ ' ' ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] | int) -%}
{% endmacro %}


{# A row that no chunk has would be lost without a word: the chunks are counted before the last of them is written. #}
{% macro validate_chunks(target, options, chunked, run) %}
  {%- set staged = versioned_collapsing.count_staged_rows(target, 'change_set') -%}
  {%- if chunked != staged -%}
    {%- do versioned_collapsing.stop_run(run,
        "The " ~ options.chunks ~ " chunks of " ~ target ~ " have " ~ chunked ~ " of " ~ staged ~ " staged rows: the order of the key's values is not "
        ~ "reliable. The last chunk was not written. Leave the option chunks out, and rebuild the table: " ~ run.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}


{# With `on_conflict: error` nothing may be written when any chunk has a conflict: all are compared first. #}
{% macro refuse_conflicts_of_all_chunks(target, options, columns, run) %}
  {%- set total = namespace(counts=versioned_collapsing.start_counts(run.read)) -%}
  {%- for chunk in range(1, options.chunks + 1) -%}
    {%- do versioned_collapsing.stage_chunk(target, options, chunk, run) -%}
    {%- do versioned_collapsing.stage_uncollapsed_rows(target, options, columns, run) -%}
    {%- if columns.is_folded -%}
      {%- do versioned_collapsing.resolve_changes(target, options, columns, run) -%}
    {%- endif -%}
    {%- set total.counts = versioned_collapsing.add_counts(total.counts, versioned_collapsing.count_outcomes(target, options, columns, run)) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.report_conflicts(target, options, total.counts, run, 1) -%}
{% endmacro %}
