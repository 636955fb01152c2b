{% macro complete_source(source, node, run) %}
  {%- do versioned_collapsing.create_ledger(source) -%}
  {%- set ledger = versioned_collapsing.read_ledger(source, node) -%}
  {%- if ledger.unfinished -%}
    {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
    {%- do versioned_collapsing.validate_versioned_collapsing_options(node, options) -%}
    {%- do versioned_collapsing.complete_apply(source, options, ledger.unfinished, run) -%}
  {%- endif -%}
{% endmacro %}
