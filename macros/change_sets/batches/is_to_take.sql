{# For a change set's SQL: whether a batch is among those that this run takes. The materialization fills the manifest
   before it runs the SQL. The condition uses a value and not a join, so that Spark reads only the folders of these
   batches, and rows stay in the order in which they are read. In a unit test, which has no `this`, all batches are
   taken. #}
{% macro is_to_take(batch) %}
  {%- if this is none -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- do return(
      'array_contains((select collect_list(batch) from ' ~ versioned_collapsing.get_change_set_manifest_relation(this)
      ~ ' where batch is not null), ' ~ batch ~ ')'
  ) -%}
{% endmacro %}
