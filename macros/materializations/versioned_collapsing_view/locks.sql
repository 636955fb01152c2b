{# The locks of all tables that a view reads, always in the same order. #}
{% macro acquire_source_locks(sources, apply) %}
  {%- for source in sources -%}
    {%- do versioned_collapsing.acquire_lock(
        source.relation, versioned_collapsing.get_apply_to_source(source, apply)
    ) -%}
  {%- endfor -%}
{% endmacro %}

{# The run of the view, as an apply that concerns one of its sources. #}
{% macro get_apply_to_source(source, apply, is_locked=none) %}
  {%- set relation = versioned_collapsing.get_helper_relation(source.relation, 'lock') -%}
  {%- set takes_lock = (apply.lock is not none) if is_locked is none else is_locked -%}
  {%- do return(dict(
      apply,
      lock={'relation': relation, 'run_id': apply.run_id} if takes_lock else none,
      feed_relation=versioned_collapsing.get_feed_relation(source.relation),
      feed=versioned_collapsing.get_change_feed(source.relation, source.options, source.node)
  )) -%}
{% endmacro %}

{% macro keep_source_locks(sources, apply) %}
  {%- for source in sources -%}
    {%- do versioned_collapsing.keep_lock(versioned_collapsing.get_apply_to_source(source, apply)) -%}
  {%- endfor -%}
{% endmacro %}

{% macro give_up_source_locks(sources, apply) %}
  {%- for source in sources -%}
    {%- do versioned_collapsing.give_up_lock(versioned_collapsing.get_apply_to_source(source, apply)) -%}
  {%- endfor -%}
{% endmacro %}

{# Completes an apply that a run left unfinished in a source, and restores applies that the ledger lacks. It takes the
   lock even if the embedded engine needs none for views: several threads may build views of the same source. #}
{% macro recover_source(source, apply) %}
  {%- set ledger = versioned_collapsing.read_ledger(source.relation, source.node) -%}
  {%- if not ledger.unfinished and versioned_collapsing.read_last_fed_apply(source.relation) <= ledger.number -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set recovery = versioned_collapsing.get_apply_to_source(source, apply, is_locked=true) -%}
  {%- do versioned_collapsing.acquire_lock(source.relation, recovery) -%}
  {%- set ledger = versioned_collapsing.read_restored_ledger(source.relation, source.options, source.node, recovery) -%}
  {%- if ledger.unfinished -%}
    {%- do versioned_collapsing.recover_apply(
        source.relation, source.options, ledger.unfinished, dict(recovery, number=ledger.number + 1)
    ) -%}
  {%- endif -%}
  {%- if not apply.lock -%}
    {%- do versioned_collapsing.give_up_lock(recovery) -%}
  {%- endif -%}
{% endmacro %}
