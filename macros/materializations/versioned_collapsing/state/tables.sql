{# What system.tables says about the table of a model, its tombstones, and the two tables that a full refresh builds
   beside them; none for a table that does not exist. `leftover`: the names of all tables that a full refresh that died
   has left. #}
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
