{# Takes the writer lock of a model's table away from whoever holds it. #}
{% macro release_lock(model) %}
  {%- set node = versioned_collapsing.get_collapsing_node('release_lock', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('release_lock', node) -%}
  {%- set lock = versioned_collapsing.get_helper_relation(table, 'lock') -%}
  {%- set holder = versioned_collapsing.read_lock(lock) -%}
  {%- if holder is none -%}
    {%- do log(table ~ ' is not locked', info=true) -%}
  {%- elif holder.is_working -%}
    {%- do exceptions.raise_compiler_error(
        "release_lock: run " ~ holder.run_id ~ " holds the lock on " ~ table ~ " and is at work. Wait for it, or kill "
        ~ "its statement first."
    ) -%}
  {%- else -%}
    {%- do run_query('drop table if exists ' ~ lock) -%}
    {%- do log('Released the lock of run ' ~ holder.run_id ~ ' on ' ~ table, info=true) -%}
  {%- endif -%}
{% endmacro %}
