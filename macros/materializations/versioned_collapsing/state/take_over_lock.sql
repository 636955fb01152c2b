{# Moved away before it is dropped: of two runs that take over at once one finds nothing to move, or the lock
   that the other has made by then, which goes back. Each moves it to a name of its own. #}
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
