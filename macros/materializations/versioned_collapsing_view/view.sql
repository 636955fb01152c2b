{# Reads the options of a view once and raises one error for all that is wrong with them. #}
{% macro get_view_options(config, model, sql) %}
  {%- set sources = [] -%}
  {%- for unique_id in model.depends_on.nodes if unique_id in graph.nodes and graph.nodes[unique_id].config.materialized == 'versioned_collapsing' -%}
    {%- do sources.append(graph.nodes[unique_id]) -%}
  {%- endfor -%}
  {%- set options = {
      'source': sources | first,
      'engine': config.get('engine', 'SummingMergeTree'),
      'order_by': versioned_collapsing.as_list(config.get('order_by')),
      'partition_by': versioned_collapsing.as_list(config.get('partition_by')),
      'settings': config.get('settings') or {},
  } -%}
  {%- do options.update({'definition': local_md5(sql ~ [options.engine, options.order_by, options.partition_by, options.settings])}) -%}
  {%- set known = ['engine', 'order_by', 'partition_by', 'settings', 'indexes', 'projections'] -%}
  {%- set meaningless = dict(versioned_collapsing.get_meaningless_options()) -%}
  {%- do meaningless.pop('engine') -%}
  {%- set problems = versioned_collapsing.validate_option_names(model, known, meaningless) -%}
  {%- if sources | length != 1 -%}
    {%- do problems.append("select: reads " ~ sources | map(attribute='name') | sort | list ~ "; a view follows one versioned_collapsing model, by `ref`.") -%}
  {%- endif -%}
  {%- if not options.order_by -%}
    {%- do problems.append("order_by: missing. Name the columns by which the sums are grouped.") -%}
  {%- endif -%}
  {%- if 'MergeTree' not in options.engine -%}
    {%- do problems.append("engine: is '" ~ options.engine ~ "'; it takes an engine of the MergeTree family, as SummingMergeTree or AggregatingMergeTree.") -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'versioned_collapsing_view') -%}
  {%- do return(options) -%}
{% endmacro %}


{# Columns of a change set are Nullable unless the model declares otherwise, and a sorting key takes none. #}
{% macro validate_view_columns(source, options, sql) %}
  {%- set problems = [] -%}
  {%- if options.settings.get('allow_nullable_key', 0) | int -%}{%- do return(problems) -%}{%- endif -%}
  {%- for option in ('order_by', 'partition_by') -%}
    {%- for expression in options[option] -%}
      {%- for type in versioned_collapsing.read_types('(select ' ~ expression ~ ' from ' ~ versioned_collapsing.get_subquery_sql(sql) ~ ')').values() if 'Nullable(' in type -%}
        {%- do problems.append(
            option ~ ": " ~ expression ~ " is " ~ type ~ ", and a key of a table takes no nulls. Declare the `data_type` of the columns that it is made of in the properties of "
            ~ source.name ~ ", and rebuild: " ~ versioned_collapsing.get_rebuild_command(source)
            ~ ". Or put something in the place of nulls in the select, by ifNull."
        ) -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# The table that a view follows. #}
{% macro get_source_table(source) %}
  {%- set table = adapter.get_relation(source.database, source.schema, source.alias) -%}
  {%- if table is none -%}
    {%- do exceptions.raise_compiler_error(
        "The table " ~ source.schema ~ "." ~ source.alias ~ ", which the view follows, is not there. Build it first: dbt run --select " ~ versioned_collapsing.get_selector(source)
    ) -%}
  {%- endif -%}
  {%- do return(table) -%}
{% endmacro %}


{% macro validate_view_place(this, existing) %}
  {%- if existing is not none and existing.type != 'table' -%}
    {%- do exceptions.raise_compiler_error(
        existing ~ " is a " ~ existing.type ~ ", which a table cannot take the place of. Drop it or rename it, then run again."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Whether the table was filled to the end with this select, from the table that the source's name now means,
   and is followed up. #}
{% macro is_view_current(this, source, options) %}
  {%- set query -%}
    select count() as n
    from {{ versioned_collapsing.get_ledger_relation(source) }}
    where status = 'filled'
      and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(this) }}
      and source_uuid = {{ versioned_collapsing.get_table_uuid_sql(source) }}
      and definition = '{{ options.definition }}'
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['n'] | int > 0 and versioned_collapsing.is_triggered(source, versioned_collapsing.get_trigger_relation(this))) -%}
{% endmacro %}


{# Whether rows that are inserted into the source reach a materialized view. They do when it reads the source
   first: what it joins to that is only looked up. #}
{% macro is_triggered(source, trigger) %}
  {%- set query -%}
    select count() as n
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(source.schema) }} and name = {{ versioned_collapsing.quote_literal(source.identifier) }}
      and has(arrayZip(dependencies_database, dependencies_table), ({{ versioned_collapsing.quote_literals([trigger.schema, trigger.identifier]) }}))
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['n'] | int > 0) -%}
{% endmacro %}


{# Fills a table beside the old one and puts it in its place. The ledger's row comes last: without it the next
   run begins anew. Nobody writes to the source meanwhile, and what a run left half-written there is
   completed first, without the view. #}
{% macro rebuild_view(this, existing, source, options, run, sql) %}
  {%- set build = versioned_collapsing.get_helper_relation(this, 'build') -%}
  {%- set trigger = versioned_collapsing.get_trigger_relation(this) -%}
  {%- do run_query('drop view if exists ' ~ trigger) -%}
  {%- do versioned_collapsing.complete_source(source, options.source, run) -%}
  {%- do run_query('drop table if exists ' ~ build) -%}
  {% call statement('create_view_table') -%}
    create table {{ build }} {{ on_cluster_clause(build) }}
    engine = {{ options.engine }}
    {%- if options.partition_by %}
    partition by ({{ options.partition_by | join(', ') }})
    {%- endif %}
    order by ({{ options.order_by | join(', ') }})
    settings {{ versioned_collapsing.get_settings_list_sql(versioned_collapsing.get_view_settings(options.settings)) }}
    empty as select * from {{ versioned_collapsing.get_subquery_sql(sql) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {% call statement('fill_view') -%}
    insert into {{ build }}
    select *
    from {{ versioned_collapsing.get_subquery_sql(sql) }}
    {{ versioned_collapsing.get_settings_sql(run, {'max_partitions_per_insert_block': 0}) }}
  {%- endcall %}
  {%- if existing is none -%}
    {%- do run_query('rename table ' ~ build ~ ' to ' ~ this) -%}
  {%- else -%}
    {%- do run_query('exchange tables ' ~ build ~ ' and ' ~ this) -%}
    {%- do run_query('drop table ' ~ build) -%}
  {%- endif -%}
  {%- do run_query('create materialized view ' ~ trigger ~ ' to ' ~ this ~ ' as ' ~ sql) -%}
  {%- if not versioned_collapsing.is_triggered(source, trigger) -%}
    {%- do run_query('drop view ' ~ trigger) -%}
    {%- do versioned_collapsing.stop_run(run,
        this ~ " would not follow " ~ source ~ ": a materialized view sees the rows of the table that its select reads first. Begin with "
        ~ source.identifier ~ ", and join the others to it."
    ) -%}
  {%- endif -%}
  {%- do run.update({'source': source, 'definition': options.definition}) -%}
  {%- do versioned_collapsing.record_run(this, run, 'filled', {}) -%}
{% endmacro %}


{% macro complete_source(source, node, run) %}
  {%- do versioned_collapsing.create_ledger(source) -%}
  {%- set ledger = versioned_collapsing.read_ledger(source, node) -%}
  {%- if ledger.unfinished -%}
    {%- do versioned_collapsing.finish_unfinished_apply(source, versioned_collapsing.get_versioned_collapsing_options(node.config, node), ledger.unfinished, run) -%}
  {%- endif -%}
{% endmacro %}


{# A window lets an insert into the source be repeated: the view's table knows the blocks that it has. #}
{% macro get_view_settings(settings) %}
  {%- set all = {'non_replicated_deduplication_window': versioned_collapsing.get_deduplication_window()} -%}
  {%- do all.update(settings) -%}
  {%- do return(all) -%}
{% endmacro %}
