{# Says that the run is at work, and makes sure that nobody has taken over in between. #}
{% macro renew_lock(run) %}
  {%- if run.lock -%}
    {%- set holder = versioned_collapsing.read_lock(run.lock.relation) -%}
    {%- do versioned_collapsing.validate_lock_is_held(holder, run, versioned_collapsing.get_lock_seconds()) -%}
    {%- do run_query(
        "insert into " ~ run.lock.relation ~ " select now64(3, 'UTC') " ~ versioned_collapsing.get_settings_sql()
    ) -%}
  {%- endif -%}
{% endmacro %}
