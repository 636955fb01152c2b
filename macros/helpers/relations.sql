{# A helper relation of the target: staged data, a table being built. #}
{% macro get_helper_relation(target_relation, role) %}
  {%- do return(
      target_relation.incorporate(path={'identifier': target_relation.identifier ~ '__dbt_' ~ role}, type='table')
  ) -%}
{% endmacro %}


{# The ledger. It has one row when an apply begins to write, one for each chunk or block that is done, and one when the
   apply has ended. #}
{% macro get_ledger_relation(target_relation) %}
  {%- do return(target_relation.incorporate(path={'identifier': 'versioned_collapsing_ledger'}, type='table')) -%}
{% endmacro %}


{# What `verify` has found: one row for each key range of a cycle when it is planned, and one when it is verified. #}
{% macro get_verifications_relation(target_relation) %}
  {%- do return(target_relation.incorporate(
      path={'identifier': 'versioned_collapsing_verifications'}, type='table'
  )) -%}
{% endmacro %}


{# The remembered deletes of a target: keys, each with the highest version at which it was deleted. #}
{% macro get_tombstones_relation(target_relation) %}
  {%- do return(
      target_relation.incorporate(path={'identifier': target_relation.identifier ~ '__tombstones'}, type='table')
  ) -%}
{% endmacro %}


{# The change feed of a target: the signed rows of each apply. #}
{% macro get_changes_relation(target_relation) %}
  {%- do return(
      target_relation.incorporate(path={'identifier': target_relation.identifier ~ '__changes'}, type='table')
  ) -%}
{% endmacro %}


{# The manifest beside a change set: the batches that it holds. #}
{% macro get_change_set_manifest_relation(change_set) %}
  {%- do return(change_set.incorporate(path={'identifier': change_set.identifier ~ '__manifest'}, type='table')) -%}
{% endmacro %}
