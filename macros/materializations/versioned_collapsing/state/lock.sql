{# Takes the writer lock: only one run at a time applies to a table. On a server the lock is a table, which only one run
   can create. It has a row for each of the holder's steps. A run of the same dbt invocation waits for its turn, for
   example the second of two views that read one table. A run of another invocation stops if it sees that the holder is
   at work. The embedded engine needs no lock: the adapter makes sure that only one process uses it. #}
{% macro acquire_lock(locked_relation, apply) %}
  {%- if not apply.lock -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set patience = versioned_collapsing.get_lock_patience() -%}
  {%- set seen = namespace(holder=none, at=0, was_at_work=false) -%}
  {%- for second in range(patience) -%}
    {%- do versioned_collapsing._create_lock(apply) -%}
    {%- set holder = versioned_collapsing.read_lock(apply.lock.relation) -%}
    {%- if versioned_collapsing.is_held_by(holder, apply.run_id) -%}
      {%- do versioned_collapsing.catch_up([
          locked_relation,
          versioned_collapsing.get_tombstones_relation(locked_relation),
          versioned_collapsing.get_changes_relation(locked_relation),
          versioned_collapsing.get_ledger_relation(locked_relation),
      ]) -%}
      {%- do return(none) -%}
    {%- elif holder is not none -%}
      {#- What this run has seen itself counts more than recorded times, which are wrong if a clock was set. -#}
      {%- if versioned_collapsing._is_at_work(holder, seen.holder) -%}
        {%- set seen.at, seen.was_at_work = second, true -%}
      {%- endif -%}
      {%- set idle = [second - seen.at, 0 if seen.was_at_work else holder.seconds_idle] | max -%}
      {%- do versioned_collapsing._wait_for_lock(
          locked_relation, dict(holder, seconds_idle=idle), seen.holder, apply
      ) -%}
      {%- set seen.holder = holder -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.validate_lock_is_acquired(locked_relation, seen.holder, apply, patience) -%}
{% endmacro %}


{# ClickHouse lets only one client create a table. The comment of the table names the holder of the lock. #}
{% macro _create_lock(apply) %}
  {%- set lock = apply.lock.relation -%}
  {%- set query -%}
    create table if not exists {{ lock }} {{ on_cluster_clause(lock) }} (step_at DateTime64(3, 'UTC'))
    engine = {{ versioned_collapsing.get_engine_name(lock, 'MergeTree') }}
    order by step_at
    {{ versioned_collapsing.get_settings_sql() }}
    comment {{ versioned_collapsing.quote_literal(apply.run_id ~ ' ' ~ invocation_id) }}
  {%- endset -%}
  {%- do run_query(query) -%}
{% endmacro %}


{% macro _wait_for_lock(locked_relation, holder, as_last_seen, apply) %}
  {%- set seconds = versioned_collapsing.get_lock_seconds() -%}
  {%- set is_at_work = versioned_collapsing._is_at_work(holder, as_last_seen) -%}
  {%- do versioned_collapsing.validate_holder_is_idle(locked_relation, holder, is_at_work, apply.model) -%}
  {%- if not holder.is_working and holder.seconds_idle > seconds -%}
    {%- do versioned_collapsing.take_over_lock(locked_relation, apply, holder) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- if as_last_seen is none and holder.invocation_id != invocation_id -%}
    {%- do log(
        'Run ' ~ holder.run_id ~ ' holds the lock on ' ~ locked_relation ~ '. Waiting up to ' ~ seconds
        ~ ' s to see whether it makes progress', info=true
    ) -%}
  {%- endif -%}
  {%- do run_query('select sleep(1)') -%}
{% endmacro %}


{# Whether the holder has a statement under way, or has made a step since it was last seen. #}
{% macro _is_at_work(holder, as_last_seen) %}
  {%- set has_moved = as_last_seen is not none
      and [holder.run_id, holder.steps] != [as_last_seen.run_id, as_last_seen.steps] -%}
  {%- do return(holder.is_working or has_moved) -%}
{% endmacro %}
