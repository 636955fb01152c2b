{# The table of a model, its tombstones, and what a full refresh builds beside them: what system.tables says of each,
   none
   of those that are not there; and the names of all that a full refresh that died has left. #}
{% macro read_tables_of(this) %}
  {%- set build = versioned_collapsing.get_helper_relation(this, 'build') -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(this) -%}
  {%- set build_tombstones = versioned_collapsing.get_tombstones_relation(build) -%}
  {%- set found = versioned_collapsing.read_tables([this, tombstones, build], build.identifier ~ '__') -%}
  {%- set known = [this.identifier, tombstones.identifier] -%}
  {%- do return({
      'target': found.get(this.identifier),
      'tombstones': found.get(tombstones.identifier),
      'build': found.get(build.identifier),
      'build_tombstones': found.get(build_tombstones.identifier),
      'leftover': found | reject('in', known) | list,
  }) -%}
{% endmacro %}
