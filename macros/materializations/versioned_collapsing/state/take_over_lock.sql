{# Moved away before it is dropped: of two runs that take over at once one finds nothing to move, or the lock
   that the other has made by then, which goes back. #}
{% macro take_over_lock(target, lock, holder) %}
  {%- set moved = versioned_collapsing.get_helper_relation(target, 'lock_' ~ holder.run_id) -%}
  {%- do exceptions.warn(
      target ~ ": run " ~ holder.run_id ~ " held the lock and showed no sign of life for " ~ holder.seconds_idle
      ~ " s. Its lock is taken over."
  ) -%}
  {%- do run_query('rename table if exists ' ~ lock ~ ' to ' ~ moved) -%}
  {%- set taken = versioned_collapsing.read_lock(moved) -%}
  {%- if taken is not none and taken.run_id == holder.run_id -%}
    {%- do run_query('drop table ' ~ moved) -%}
  {%- elif taken is not none -%}
    {%- do run_query('rename table ' ~ moved ~ ' to ' ~ lock) -%}
  {%- endif -%}
{% endmacro %}


{# A statement under way, or a step since the holder was last looked at. #}
{% macro _is_at_work(holder, as_last_seen) %}
  {%- do return(
      holder.is_working or (as_last_seen is not none and [holder.run_id, holder.steps] != [as_last_seen.run_id,
      as_last_seen.steps])
  ) -%}
{% endmacro %}
