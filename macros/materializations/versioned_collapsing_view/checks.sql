{# Before the select is compiled, only the options are checked. #}
{% macro validate_view_options(model, options, sql=none) %}
  {%- set known = ['engine', 'order_by', 'partition_by', 'settings'] -%}
  {%- set problems = versioned_collapsing.get_option_name_problems(
      model, known, versioned_collapsing._get_options_without_meaning()
  ) -%}
  {%- if not options.sources -%}
    {%- do problems.append("select: the view reads from no versioned_collapsing model. `ref` at least one.") -%}
  {%- endif -%}
  {%- for source in options.sources if source.options.change_feed is sameas false -%}
    {%- do problems.append(
        source.name ~ " has `change_feed: false`, and a view is maintained from the change feeds of its tables. Remove "
        ~ "the option from " ~ source.name ~ "."
    ) -%}
  {%- endfor -%}
  {%- for source in options.sources if sql is not none -%}
    {%- set count = sql.split(source.relation | string) | length - 1 -%}
    {%- if count != 1 -%}
      {%- do problems.append(
          "select: " ~ source.relation ~ " occurs " ~ versioned_collapsing.format_count(count, 'time') ~ " in the "
          ~ "compiled select. `ref` each table once, in `from` or `join`."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if not options.order_by -%}
    {%- do problems.append("order_by is missing. Name the columns by which the sums are grouped.") -%}
  {%- endif -%}
  {%- set summing = '(Summing)?MergeTree' -%}
  {%- if not modules.re.fullmatch(
      summing ~ '(\\(\\s*\\))?|(Replicated|Shared)' ~ summing ~ '(\\(.*\\))?', options.engine | trim
  ) -%}
    {%- do problems.append(
        "engine is '" ~ options.engine ~ "'; it takes SummingMergeTree or MergeTree. Other engines lose rows of the "
        ~ "sums when they merge."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'versioned_collapsing_view') -%}
{% endmacro %}

{# Options of other materializations, each with what to do instead. #}
{% macro _get_options_without_meaning() %}
  {%- set without = {
      'indexes': "A table of sums has no skip indexes. Leave it out.",
      'projections': "A table of sums has no projections. Leave it out.",
  } -%}
  {%- for name in versioned_collapsing.get_meaningless_options() if name != 'engine' -%}
    {%- do without.update({name: "The view is maintained from the change feeds of its tables. Leave it out."}) -%}
  {%- endfor -%}
  {%- do return(without) -%}
{% endmacro %}

{# All tables that a view reads must exist. #}
{% macro validate_source_tables(sources) %}
  {%- for source in sources
      if adapter.get_relation(source.node.database, source.node.schema, source.node.alias) is none -%}
    {%- do exceptions.raise_compiler_error(
        "The table " ~ source.relation ~ ", which the view reads, does not exist. Build it first: dbt run --select "
        ~ versioned_collapsing.get_selector(source.node)
    ) -%}
  {%- endfor -%}
{% endmacro %}

{# Nothing else may write into the table of a view: rows that a materialized view adds to it would be counted twice. #}
{% macro validate_no_other_writers(this) %}
  {%- set query -%}
    select concat(database, '.', name) as _dbt_writer
    from system.tables
    where engine = 'MaterializedView'
      and position(
        replaceAll(create_table_query, '`', ''),
        {{ versioned_collapsing.quote_literal(' TO ' ~ this.schema ~ '.' ~ this.identifier ~ ' ') }}
      ) > 0
    order by _dbt_writer
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set writers = run_query(query).rows | map(attribute='_dbt_writer') | list -%}
  {%- if writers -%}
    {%- do exceptions.raise_compiler_error(
        this ~ " is maintained from change feeds, and a materialized view must not write into it: "
        ~ writers | join(', ') ~ ". Drop each of them, then run again."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Checks that the select is a sum of products of the rows of its tables. A run on a part of them (--empty, --sample) is
   not checked: it fills the view with that part, and the next run fills it again. #}
{% macro validate_view_select(model, options, sql) %}
  {%- if not versioned_collapsing.is_partial_run() -%}
    {%- set sources = [] -%}
    {%- for source in options.sources -%}
      {%- do sources.append({
          'schema': source.relation.schema, 'identifier': source.relation.identifier, 'sign': source.sign
      }) -%}
    {%- endfor -%}
    {%- set tree = versioned_collapsing.read_query_tree(sql) -%}
    {%- do versioned_collapsing.raise_problems(
        model.unique_id,
        versioned_collapsing.get_select_problems(tree, sources, options.order_by, options.partition_by),
        'versioned_collapsing_view'
    ) -%}
  {%- endif -%}
{% endmacro %}
