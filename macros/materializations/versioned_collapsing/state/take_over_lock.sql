{# Takes over the lock of another run. The lock is first renamed, to a name of this run's own, and then dropped. If two
   runs take over at once, the second one finds no lock, or renames the new lock of the first one; then it renames that
   lock back. #}
{% macro take_over_lock(locked_relation, apply, holder) %}
  {%- set lock = apply.lock.relation -%}
  {%- set moved = versioned_collapsing.get_helper_relation(locked_relation, 'lock_' ~ apply.run_id) -%}
  {%- do exceptions.warn(
      locked_relation ~ ": run " ~ holder.run_id ~ " holds the lock and has not made progress for "
      ~ holder.seconds_idle ~ " s. This run takes over the lock."
  ) -%}
  {%- do versioned_collapsing.rename_table(lock, moved, 'if exists') -%}
  {%- set taken = versioned_collapsing.read_lock(moved) -%}
  {%- if versioned_collapsing.is_held_by(taken, holder.run_id) -%}
    {%- do versioned_collapsing.drop_tables([moved]) -%}
  {%- elif taken is not none -%}
    {%- do versioned_collapsing.rename_table(moved, lock) -%}
  {%- endif -%}
{% endmacro %}
