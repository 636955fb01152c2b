{# The lake table whose change feed a change set reads: `format`, `catalog` and `relation`. delta_changes and
   iceberg_changes put the first two into the config while dbt parses. None for a change set of a landing zone. #}
{% macro get_lake(model) %}
  {%- set given = versioned_collapsing.get_option(model.config, 'lake') -%}
  {%- if not given -%}{%- do return(none) -%}{%- endif -%}
  {%- set parents = model.depends_on.nodes | unique | list -%}
  {%- do versioned_collapsing.validate_one_lake_table(model, given.format, parents) -%}
  {%- set node = graph.sources.get(parents[0]) or graph.nodes[parents[0]] -%}
  {%- set relation = api.Relation.create(schema=node.schema, identifier=node.identifier or node.alias) -%}
  {%- do return(dict(given, relation=relation)) -%}
{% endmacro %}


{# The commits of a lake's table as batches. #}
{% macro read_lake_commits(model, lake) %}
  {%- do versioned_collapsing.validate_lake_format(model, lake, versioned_collapsing._read_provider(lake.relation)) -%}
  {%- if lake.format == 'delta' -%}
    {%- do return(versioned_collapsing.read_delta_commits(lake)) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.read_iceberg_snapshots(lake)) -%}
{% endmacro %}


{% macro _read_provider(relation) %}
  {%- for row in run_query('describe table extended ' ~ relation).rows if row[0] == 'Provider' -%}
    {%- do return(row[1] | string | lower) -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}


{# The commits without those that were applied under another number. If the parent of a snapshot expires, the number of
   the snapshot may change, but it is still the same snapshot. #}
{% macro get_commits_not_renumbered(landed, applied) %}
  {%- set commits = {} -%}
  {%- set hashes = applied.values() | list -%}
  {%- for batch, commit in landed.items() if batch in applied or commit.hash not in hashes -%}
    {%- do commits.update({batch: commit}) -%}
  {%- endfor -%}
  {%- do return(commits) -%}
{% endmacro %}
