{# Removes the writer lock of a model's table, unless its holder is at work. #}
{% macro release_lock(model) %}
  {%- set node = versioned_collapsing.get_collapsing_node('release_lock', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('release_lock', node) -%}
  {%- set lock = versioned_collapsing.get_helper_relation(table, 'lock') -%}
  {%- set holder = versioned_collapsing.read_lock(lock) -%}
  {%- if holder is none -%}
    {%- do log(table ~ ' is not locked', info=true) -%}
  {%- else -%}
    {%- do versioned_collapsing.validate_can_be_released(table, holder) -%}
    {%- do versioned_collapsing.drop_tables([lock]) -%}
    {%- do log('Released the lock of run ' ~ holder.run_id ~ ' on ' ~ table, info=true) -%}
  {%- endif -%}
{% endmacro %}
