{# Prints what a report shows of the versioned_collapsing models as JSON, for `python -m
   dbt.adapters.spark_clickhouse.report` and for any other reader of JSON. `runs`: how many of the last runs of each
   table. #}
{% macro report_data(runs=500) %}
  {%- do versioned_collapsing.validate_settings('report_data', versioned_collapsing.read_profile_settings()) -%}
  {%- set tables = [] -%}
  {%- for node in versioned_collapsing.get_collapsing_nodes() -%}
    {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- set built = versioned_collapsing.read_report_of_table(table, node, runs) if table is not none else {} -%}
    {%- do tables.append(dict(built,
        name=node.schema ~ '.' ~ node.alias,
        model=versioned_collapsing.get_selector(node),
        description=node.description,
        is_built=table is not none
    )) -%}
  {%- endfor -%}
  {%- do print(tojson({
      'project': project_name,
      'target': target.name,
      'server': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_server_sql())[0],
      'tables': tables,
  })) -%}
{% endmacro %}


{# What a report shows of one table. #}
{% macro read_report_of_table(table, node, runs) %}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set views = [] -%}
  {%- for view in versioned_collapsing.get_followers(node)
      if view.config.materialized == 'versioned_collapsing_view' -%}
    {%- set found = versioned_collapsing.read_json_rows(versioned_collapsing.get_view_status_sql(table, view)) -%}
    {%- do views.append(dict(
        found[0], name=view.schema ~ '.' ~ view.alias, model=versioned_collapsing.get_selector(view)
    )) -%}
  {%- endfor -%}
  {%- set ledger = versioned_collapsing.read_ledger(table, node) -%}
  {%- do return({
      'status': versioned_collapsing.read_json_rows(
          versioned_collapsing.get_collapse_status_sql(table, options)
      )[0],
      'is_interrupted': ledger.unfinished is not none,
      'partitions': versioned_collapsing.read_json_rows(versioned_collapsing.get_waiting_rows_sql(table, options)),
      'totals': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_totals_sql(table))[0],
      'runs': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_runs_sql(table, runs)),
      'storage': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_storage_sql(table)),
      'views': views,
      'quarantined': versioned_collapsing._read_quarantined(table, node, options),
      'verifications': versioned_collapsing._read_verifications(table),
  }) -%}
{% endmacro %}


{# For a quarantine: its lines by reason and day. None for another model. #}
{% macro _read_quarantined(table, node, options) %}
  {%- if 'macro.versioned_collapsing.replace_quarantined_batches' in node.depends_on.macros -%}
    {%- do return(versioned_collapsing.read_json_rows(
        versioned_collapsing.get_report_quarantined_sql(table, options)
    )) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}


{% macro _read_verifications(table) %}
  {%- set relation = versioned_collapsing.get_verifications_relation(table) -%}
  {%- if versioned_collapsing.read_tables([relation]) -%}
    {%- do return(versioned_collapsing.read_json_rows(
        versioned_collapsing.get_report_verifications_sql(table, relation)
    )) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
