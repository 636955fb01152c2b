{# What was seen before the lock was taken holds still: nobody has built the table in between. #}
{% macro validate_same_place(this, existing, run) %}
  {%- set query = "select count() as n from system.tables where " ~ versioned_collapsing.get_is_table_sql(this) ~ ' '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- if run_query(query).rows[0]['n'] | int != (0 if existing is none else 1) -%}
    {%- do versioned_collapsing.stop_run(
        run, this ~ (' was built' if existing is none else ' was dropped') ~ ' while this run waited for its lock. '
        ~ 'Run again.'
    ) -%}
  {%- endif -%}
{% endmacro %}
