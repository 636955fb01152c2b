{# The command that rebuilds a table, together with its change set, which must begin at the first batch, and with the
   views that follow the table. #}
{% macro get_rebuild_command(model) %}
  {%- set change_sets = versioned_collapsing.get_change_sets(model) -%}
  {%- set first = change_sets[0] if change_sets else model -%}
  {%- do return(
      'dbt run --full-refresh --select ' ~ versioned_collapsing.get_selector(first)
      ~ ('+' if change_sets or versioned_collapsing.get_dependents(model) else '')
  ) -%}
{% endmacro %}

{# The change_set models that a model selects from. #}
{% macro get_change_sets(model) %}
  {%- set found = [] -%}
  {%- for unique_id in model.depends_on.nodes if unique_id in graph.nodes
      and graph.nodes[unique_id].config.materialized == 'change_set' -%}
    {%- do found.append(graph.nodes[unique_id]) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# The selector with which `dbt run --select` finds this node alone. #}
{% macro get_selector(node) %}
  {%- set same = graph.nodes.values() | selectattr('resource_type', 'equalto', 'model') | selectattr('name', 'equalto',
      node.name) | list -%}
  {%- set version = '.v' ~ node.version if node.version else '' -%}
  {%- set package = ',package:' ~ node.package_name if same | map(attribute='package_name') | unique | list | length > 1
      else '' -%}
  {%- do return(node.name ~ version ~ package) -%}
{% endmacro %}

{# The models that are rebuilt with a table: views that are maintained from it, and materialized views on it. #}
{% macro get_dependents(model) %}
  {%- set found = [] -%}
  {%- for node in graph.nodes.values() if node.config.materialized in ('versioned_collapsing_view', 'materialized_view')
      and model.unique_id in node.depends_on.nodes -%}
    {%- do found.append(node) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# The columns in which a row of a change set may count the events that it stands for. #}
{% macro get_carried_count_names() %}
  {%- do return(['_duplicates', '_conflicts', '_superseded', '_synthetic']) -%}
{% endmacro %}

{# The counts of the lines of a batch: all lines, and each kind of line. #}
{% macro get_line_count_names() %}
  {%- do return(['lines', 'blank', 'quarantined', 'ignored', 'events']) -%}
{% endmacro %}

{# All counts of an apply: those in `read`, and 0 for the others. #}
{% macro get_initial_counts(read) %}
  {%- set counts = dict.fromkeys(versioned_collapsing.get_count_names(), 0) -%}
  {%- do counts.update({'conflict_sample': [], 'columns_to_fill': [], 'has_writes': false, 'has_deletes': false}) -%}
  {%- do counts.update(read) -%}
  {%- do return(counts) -%}
{% endmacro %}

{# The names of an apply's counts, as in the ledger. #}
{% macro get_count_names() %}
  {%- do return([
      'rows_read', 'keys', 'states', 'cancels', 'deletes', 'duplicates', 'late', 'unmerged', 'conflicts', 'tombstoned',
      'rebalanced', 'forgotten', 'superseded', 'synthetic', 'truncates'
  ]) -%}
{% endmacro %}

{# The sums of the counts of two chunks. #}
{% macro get_added_counts(total, counts) %}
  {%- set sum = {} -%}
  {%- for name, value in total.items() -%}
    {%- do sum.update({name: (value or counts[name]) if value is boolean else value + counts.get(name, 0)}) -%}
  {%- endfor -%}
  {%- do return(sum) -%}
{% endmacro %}

{# Whether dbt reads only part of its inputs: --empty, --sample. The latter is not in `flags`. #}
{% macro is_partial_run() %}
  {%- do return(true if flags.EMPTY or invocation_args_dict.get('sample') else false) -%}
{% endmacro %}

{# The columns of the key of a model. #}
{% macro get_unique_key(config) %}
  {%- do return(versioned_collapsing.as_list(versioned_collapsing.get_option(config, 'unique_key'))) -%}
{% endmacro %}

{# The key of the rows that a model reads. The macro `validity` adds `valid_from` to it. #}
{% macro get_source_key(model) %}
  {%- set added = 'valid_from' if 'macro.versioned_collapsing.validity' in model.depends_on.macros else none -%}
  {%- do return(versioned_collapsing.get_unique_key(model.config) | reject('equalto', added) | list) -%}
{% endmacro %}

{# The value of an option of this package, from the config of a model or from its `meta`. dbt 2 wants options that it
   does not know in `meta`. `config` is that of a materialization or of a node of the graph. It is not asked for an
   option that is in `meta`, because dbt-core would warn. #}
{% macro get_option(config, name, default=none) %}
  {%- set meta = config.get('meta') or {} -%}
  {%- set value = meta[name] if name in meta else config.get(name) -%}
  {%- do return(default if value is none else value) -%}
{% endmacro %}

{# The options among `names` to which the config and `meta` give different values. #}
{% macro get_options_given_twice(model, names) %}
  {%- set meta = model.config.get('meta') or {} -%}
  {%- set found = [] -%}
  {%- for name in names if name in meta and versioned_collapsing.is_in_config(model, name)
      and model.config[name] != meta[name] -%}
    {%- do found.append(name) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# Whether the project gives an option in the config. dbt itself gives every model `on_schema_change: ignore`. Only
   `unrendered_config` distinguishes the project's value from that, but it lacks options that are given by a macro or
   by `config(**options)`. #}
{% macro is_in_config(model, name) %}
  {%- set value = model.config.get(name) -%}
  {%- set is_of_dbt = name == 'on_schema_change' and value == 'ignore' and name not in model.unrendered_config -%}
  {%- do return(value is not none and not is_of_dbt) -%}
{% endmacro %}

{# Stores what dbt prints for the model, and writes to run_results.json as `adapter_response`. The adapter
   spark_clickhouse writes `facts` there too. The response of dbt-clickhouse has no place for them. #}
{% macro store_response(message, rows_affected, facts) %}
  {%- if adapter.response_with is defined -%}
    {%- do store_result('main', response=adapter.response_with(message, rows_affected, facts)) -%}
  {%- else -%}
    {%- do store_raw_result('main', message=message, code='OK', rows_affected=rows_affected) -%}
  {%- endif -%}
{% endmacro %}

{# The facts of an apply, named as in the ledger. #}
{% macro get_response_facts(counts, apply) %}
  {%- set facts = {
      'run_id': apply.run_id,
      'status': 'partial' if apply.is_partial else 'applied',
      'batches': apply.batches | map(attribute=0) | list,
  } -%}
  {%- for name in versioned_collapsing.get_count_names() -%}
    {%- do facts.update({name: counts[name] | int}) -%}
  {%- endfor -%}
  {%- do return(facts) -%}
{% endmacro %}
