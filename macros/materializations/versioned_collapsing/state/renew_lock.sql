{# Records a step of the run in its lock, after it has made sure that no other run has taken over the lock. #}
{% macro renew_lock(apply) %}
  {%- if not apply.lock -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set lock = apply.lock.relation -%}
  {%- set holder = versioned_collapsing.read_lock(lock) -%}
  {%- do versioned_collapsing.validate_lock_is_held(holder, apply, versioned_collapsing.get_lock_seconds()) -%}
  {%- do run_query(
      "insert into " ~ lock ~ " (step_at) select now64(3, 'UTC') " ~ versioned_collapsing.get_settings_sql()
  ) -%}
{% endmacro %}
