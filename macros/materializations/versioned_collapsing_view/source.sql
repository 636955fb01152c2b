{# The table that a view follows, or none. #}
{% macro read_source_table(source) %}
  {%- do return(adapter.get_relation(source.database, source.schema, source.alias)) -%}
{% endmacro %}


{# Completes what a run left half-written in the source. #}
{% macro recover_source(source_relation, source, apply) %}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(source.config, source) -%}
  {%- do versioned_collapsing.validate_versioned_collapsing_options(source, options) -%}
  {%- do versioned_collapsing.create_ledger(source_relation) -%}
  {%- set ledger = versioned_collapsing.read_ledger(source_relation, source) -%}
  {%- if ledger.unfinished -%}
    {%- do versioned_collapsing.recover_apply(source_relation, options, ledger.unfinished, apply) -%}
  {%- endif -%}
{% endmacro %}
