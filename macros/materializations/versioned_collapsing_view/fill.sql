{# Copies the view to a new table, adds what has changed according to the feeds of the sources, and puts the new table
   in the view's place. Readers see all changes or none. #}
{% macro refresh_view(this, options, state, described, apply, sql) %}
  {%- do versioned_collapsing.keep_source_locks(options.sources, apply) -%}
  {%- set build = versioned_collapsing.get_helper_relation(this, 'build') -%}
  {%- do versioned_collapsing.drop_tables([build]) -%}
  {%- do run_query('create table ' ~ build ~ ' ' ~ on_cluster_clause(build) ~ ' as ' ~ this) -%}
  {%- do versioned_collapsing.copy_view(this, build, apply) -%}
  {% call statement('refresh_view') -%}
    insert into {{ build }}
    select *
    from (
      {{ versioned_collapsing.get_delta_sql(options.sources, state, described, sql) }}
    )
    {{ versioned_collapsing.get_settings_sql(apply, {'max_partitions_per_insert_block': 0}) }}
  {%- endcall %}
  {%- if versioned_collapsing.read_lacking_feeds(options.sources, state, described, are_kept=false) -%}
    {#- The feeds were complete before, but old rows have expired since. -#}
    {%- do versioned_collapsing.fill_view(this, this, options, state, described, apply, sql) -%}
  {%- else -%}
    {%- do versioned_collapsing.put_view_in_place(this, build, this, options, state, apply) -%}
  {%- endif -%}
{% endmacro %}

{# Copies the view, by hard links where possible. A replicated table leaves out a part that is, byte by byte, equal to
   one that it was given before, and a view may have the same change twice. #}
{% macro copy_view(this, build, apply) %}
  {%- if versioned_collapsing.get_replication(this) -%}
    {%- do versioned_collapsing.catch_up([this], versioned_collapsing.read_tables([this])) -%}
    {% call statement('copy_view') -%}
      insert into {{ build }}
      select *
      from {{ this }}
      {{ versioned_collapsing.get_settings_sql(apply, {'max_partitions_per_insert_block': 0}) }}
    {%- endcall %}
  {%- else -%}
    {%- do run_query('alter table ' ~ build ~ ' attach partition all from ' ~ this) -%}
  {%- endif -%}
{% endmacro %}

{# Fills a table with what the select returns now, and puts it in the view's place. #}
{% macro fill_view(this, existing_relation, options, state, described, apply, sql) %}
  {%- do versioned_collapsing.keep_source_locks(options.sources, apply) -%}
  {%- set build = versioned_collapsing.get_helper_relation(this, 'build') -%}
  {%- do versioned_collapsing.drop_tables([build]) -%}
  {% call statement('create_view_table') -%}
    {{ versioned_collapsing.get_create_view_table_sql(build, options, sql) }}
  {%- endcall %}
  {% call statement('fill_view') -%}
    insert into {{ build }}
    select *
    from {{ versioned_collapsing.get_subquery_sql(
        versioned_collapsing.get_state_sql(options.sources, described, sql)
    ) }}
    {{ versioned_collapsing.get_settings_sql(apply, {'max_partitions_per_insert_block': 0}) }}
  {%- endcall %}
  {%- do versioned_collapsing.put_view_in_place(this, build, existing_relation, options, state, apply) -%}
{% endmacro %}

{% macro get_create_view_table_sql(build, options, sql) -%}
  create table {{ build }} {{ on_cluster_clause(build) }}
  engine = {{ versioned_collapsing.get_engine_name(build, options.engine) }}
  {%- if options.partition_by %}
  partition by ({{ options.partition_by | join(', ') }})
  {%- endif %}
  order by ({{ options.order_by | join(', ') }})
  {%- if options.settings %}
  settings {{ versioned_collapsing.get_settings_list_sql(options.settings) }}
  {%- endif %}
  empty as select * from {{ versioned_collapsing.get_subquery_sql(sql) }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# The ledger names the new table by its UUID. Until the tables are exchanged, the old table is in the view's place, and
   what the ledger says about it stays true. The locks are renewed first: if another run had taken one over, the rows
   might not match `state`. #}
{% macro put_view_in_place(this, build, existing_relation, options, state, apply) %}
  {%- for source in options.sources -%}
    {%- do versioned_collapsing.renew_lock(versioned_collapsing.get_apply_to_source(source, apply)) -%}
  {%- endfor -%}
  {%- for source in options.sources -%}
    {%- set progress = dict(
        versioned_collapsing.get_initial_progress(), definition=options.definition, number=state.last[source.position]
    ) -%}
    {%- do versioned_collapsing.record_apply(build, apply, progress, 'filled', source.relation) -%}
  {%- endfor -%}
  {%- if existing_relation is none -%}
    {%- do versioned_collapsing.rename_table(build, this) -%}
  {%- else -%}
    {%- do versioned_collapsing.exchange_with(build, this) -%}
    {%- do versioned_collapsing.drop_tables([build]) -%}
  {%- endif -%}
{% endmacro %}
