{# Takes the writer lock: only one run at a time applies to a table. On a server the lock is a table, which only one run
   can create. It has a row for each of the holder's steps. A run of the same dbt invocation waits for its turn, for
   example the second of two views that read one table. A run of another invocation stops if it sees that the holder is
   at work. The embedded engine needs no lock: the adapter makes sure that only one process uses it.

   Returns what system.tables says once the lock is taken, as read_tables_beside does; none on the embedded engine. #}
{% macro acquire_lock(locked_relation, apply) %}
  {%- if not apply.lock -%}{%- do return(none) -%}{%- endif -%}
  {%- set also = versioned_collapsing.get_tables_beside_sql(locked_relation) -%}
  {#- For how many seconds a run waits for the others of its own dbt invocation. -#}
  {%- set patience = 86400 -%}
  {%- set seen = namespace(holder=none, at=0, was_at_work=false) -%}
  {%- for second in range(patience) -%}
    {%- do versioned_collapsing._create_lock(apply) -%}
    {%- set holder = versioned_collapsing.read_lock(apply.lock.relation, also) -%}
    {%- if versioned_collapsing.is_held_by(holder, apply.run_id) -%}
      {%- set tables = versioned_collapsing.get_tables(holder.also) -%}
      {%- do versioned_collapsing._drop_moved_locks(apply.lock.relation, tables) -%}
      {%- set is_replicated = versioned_collapsing.catch_up(
          versioned_collapsing.get_relations_of(locked_relation), tables
      ) -%}
      {%- do return(versioned_collapsing.read_tables_beside(locked_relation) if is_replicated else tables) -%}
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

{# Whether the holder has a statement under way, or has made a step since it was last seen. #}
{% macro _is_at_work(holder, as_last_seen) %}
  {%- set has_moved = as_last_seen is not none
      and [holder.run_id, holder.steps] != [as_last_seen.run_id, as_last_seen.steps] -%}
  {%- do return(holder.is_working or has_moved) -%}
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

{# For how long a run may show no sign of life before another one takes its lock. A statement that runs is a
   sign of life, however long it takes. #}
{% macro get_lock_seconds() %}
  {%- do return(var('versioned_collapsing_lock_seconds', 60) | int) -%}
{% endmacro %}

{# Stops if a run of another dbt invocation holds the lock and is at work. #}
{% macro validate_holder_is_idle(locked_relation, holder, is_at_work, model) %}
  {%- if is_at_work and holder.invocation_id != invocation_id -%}
    {%- do exceptions.raise_compiler_error(
        "Another run holds the lock on " ~ locked_relation ~ ": run " ~ holder.run_id ~ " of dbt invocation "
        ~ holder.invocation_id ~ ". Run again when it has ended. If that run no longer exists, release its lock: "
        ~ "dbt run-operation release_lock --args '{model: " ~ model ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Takes over the lock of another run. The lock is first renamed, to a name of this run's own, and then dropped. If two
   runs take over at once, the second one finds no lock, or renames the new lock of the first one; then it renames that
   lock back. It does the same if the holder has gone on since it was seen, because a statement of the holder may write
   to the staged tables. #}
{% macro take_over_lock(locked_relation, apply, holder) %}
  {%- set lock = apply.lock.relation -%}
  {%- set moved = versioned_collapsing.get_helper_relation(locked_relation, 'lock_' ~ apply.run_id) -%}
  {%- do exceptions.warn(
      locked_relation ~ ": run " ~ holder.run_id ~ " holds the lock and has not made progress for "
      ~ holder.seconds_idle ~ " s. This run takes over the lock."
  ) -%}
  {%- do versioned_collapsing.rename_table(lock, moved, 'if exists') -%}
  {%- set taken = versioned_collapsing.read_lock(moved) -%}
  {%- if taken is not none and not versioned_collapsing._is_at_work(taken, holder) -%}
    {%- do versioned_collapsing.drop_tables([moved]) -%}
  {%- elif taken is not none -%}
    {%- do versioned_collapsing.rename_table(moved, lock) -%}
  {%- endif -%}
{% endmacro %}

{# Drops locks that were moved by runs that died while they took over a lock. #}
{% macro _drop_moved_locks(lock, tables) %}
  {%- for name in tables if name.startswith(lock.identifier ~ '_') -%}
    {%- do versioned_collapsing.drop_tables([lock.incorporate(path={'identifier': name})]) -%}
  {%- endfor -%}
{% endmacro %}

{# Stops a run that has waited too long for other runs of its own invocation. #}
{% macro validate_lock_is_acquired(locked_relation, holder, apply, seconds) %}
  {%- if not versioned_collapsing.is_held_by(holder, apply.run_id) -%}
    {%- do exceptions.raise_compiler_error(
        "Other runs have held the lock on " ~ locked_relation ~ " for " ~ seconds
        ~ " s. Run again when they have ended."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Makes sure that no other run has taken over the lock, and records a step of this run in it. A run that has only begun
   needs to record nothing: its lock itself is a sign of life. `also`: an expression to read at the same moment. Returns
   its value; none on the embedded engine. #}
{% macro renew_lock(apply, also="''") %}
  {%- if not apply.lock -%}{%- do return(none) -%}{%- endif -%}
  {%- set holder = versioned_collapsing.read_lock(apply.lock.relation, also) -%}
  {%- do versioned_collapsing.validate_lock_is_held(holder, apply, versioned_collapsing.get_lock_seconds()) -%}
  {%- if not versioned_collapsing.is_lock_young(apply) -%}
    {%- do run_query(
        "insert into " ~ apply.lock.relation ~ " (step_at) select now64(3, 'UTC') "
        ~ versioned_collapsing.get_settings_sql()
    ) -%}
  {%- endif -%}
  {%- do return(holder.also) -%}
{% endmacro %}

{# Looks at the lock before a step that writes, and renews it, unless the run has only begun. A run that stalled for so
   long that another one took over its lock must not touch the tables that the other one is staging. No statement that
   may take long comes between the look and the step. `tests/model` shows what would happen otherwise. Before anything
   is published, renew_lock looks in any case. #}
{% macro keep_lock(apply) %}
  {%- if not versioned_collapsing.is_lock_young(apply) -%}
    {%- do versioned_collapsing.renew_lock(apply) -%}
  {%- endif -%}
{% endmacro %}

{# Whether the run began so short a time ago that no other run can have taken over its lock. A clock that was set back
   does not make it young. #}
{% macro is_lock_young(apply) %}
  {%- set seconds = (modules.datetime.datetime.now(modules.pytz.utc) - apply.started_at).total_seconds() -%}
  {%- do return(0 <= seconds and seconds * 4 < versioned_collapsing.get_lock_seconds()) -%}
{% endmacro %}

{# A run that has lost its lock must not write, because another run may be writing. #}
{% macro validate_lock_is_held(holder, apply, seconds) %}
  {%- if not versioned_collapsing.is_held_by(holder, apply.lock.run_id) -%}
    {%- do exceptions.raise_compiler_error(
        "This run no longer holds its lock " ~ apply.lock.relation ~ ": it made no progress for more than " ~ seconds
        ~ " s, or the lock was released. Run again: the next run completes what this run published."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Drops the table of the rows to publish, and gives up the lock. One statement does both if the lock cannot belong to
   another run. #}
{% macro end_run(target_relation, apply) %}
  {%- if apply.lock and versioned_collapsing.is_lock_young(apply) and not on_cluster_clause(target_relation) | trim -%}
    {%- do versioned_collapsing.drop_tables(
        [versioned_collapsing.get_helper_relation(target_relation, 'signed'), apply.lock.relation]
    ) -%}
  {%- else -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {%- do versioned_collapsing.drop_staged(target_relation, ['signed']) -%}
    {%- do versioned_collapsing.give_up_lock(apply) -%}
  {%- endif -%}
{% endmacro %}
