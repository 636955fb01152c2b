{# The batches that the targets of a change set have applied. `by_all`: the batches that every target has applied, with
   the hash that each batch had then. `by_any`: the batches that any target has, or that its last table had.
   `change_sets`: the last change set that each target has applied. #}
{% macro read_applied_batches(model) %}
  {%- do return(adapter.dispatch('read_applied_batches', 'versioned_collapsing')(model)) -%}
{% endmacro %}


{% macro default__read_applied_batches(model) %}
  {%- do versioned_collapsing._validate_is_on_spark(model, target.type) -%}
{% endmacro %}


{% macro _validate_is_on_spark(model, engine) %}
  {%- if engine != 'spark' -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": a change set can be built only on Spark, and this model is built on " ~ engine
        ~ ". Build it on Spark."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# If the adapter can, Spark asks ClickHouse for the ledger. On plain dbt-spark, the variable `applied_batches` gives
   the batches: {orders_changes: {1: <hash>, 2: <hash>}}. #}
{% macro spark__read_applied_batches(model) %}
  {%- if adapter.query_on is not defined -%}
    {%- set given = var('applied_batches', {}).get(model.name, {}) -%}
    {%- do return({'by_all': given, 'by_any': given | list, 'change_sets': []}) -%}
  {%- endif -%}
  {%- set by_target = [] -%}
  {%- for node in versioned_collapsing.get_targets(model) -%}
    {%- do by_target.append(versioned_collapsing.read_batches_of_target(node)) -%}
  {%- endfor -%}
  {%- set by_all = namespace(batches=by_target[0].applied if by_target else {}) -%}
  {%- for other in by_target[1:] -%}
    {%- set by_all.batches = dict(by_all.batches.items() | selectattr(0, 'in', other.applied)) -%}
  {%- endfor -%}
  {%- do return({
      'by_all': by_all.batches,
      'by_any': by_target | sum(attribute='known', start=[]) | unique | sort,
      'change_sets': by_target | map(attribute='change_set') | unique | list,
  }) -%}
{% endmacro %}
