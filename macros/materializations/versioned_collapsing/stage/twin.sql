{# Makes sure that an empty table with the structure of another one exists: with its columns, keys, indexes and
   projections, so that parts can be attached to the other table. #}
{% macro prepare_twin(twin, relation, apply, is_new=false) %}
  {%- set found = apply.staged[relation.identifier] -%}
  {%- do versioned_collapsing.prepare_staged_table(
      twin, versioned_collapsing.get_create_twin_sql(twin, relation, found), apply, is_new=is_new,
      table_settings=versioned_collapsing._get_twin_settings_sql(found)
  ) -%}
{% endmacro %}


{# The settings of the other table, except those that all staged tables set. #}
{% macro _get_twin_settings_sql(found) %}
  {%- set own = versioned_collapsing.get_staging_settings() -%}
  {%- set settings = [] -%}
  {%- for setting in versioned_collapsing.cut_at_commas((found.engine_full.rsplit(' SETTINGS ', 1) + [''])[1]) -%}
    {%- do settings.append(setting) if setting.split(' = ')[0] not in own -%}
  {%- endfor -%}
  {%- do return(settings | join(', ')) -%}
{% endmacro %}


{# A twin is never replicated, even if the other table is: only this apply needs it. #}
{% macro get_create_twin_sql(twin, relation, found) -%}
  {%- set text = "'(?:[^'\\\\]|\\\\.)*'" -%}
  {%- set engine = modules.re.sub(
      '^(?:Replicated|Shared)(\\w*MergeTree)\\(' ~ text ~ ', ' ~ text ~ '(?:, )?', '\\1(',
      found.engine_full.rsplit(' SETTINGS ', 1)[0]
  ) -%}
  {#- The structure of the other table. If it changes, except for comment and settings, a new twin is made. -#}
  {%- set query = modules.re.sub(' COMMENT ' ~ text ~ '$', '', found.create_table_query) -%}
  {%- set structure = query.rsplit(' SETTINGS ', 1)[0] -%}
  /* {{ local_md5(structure) }} */
  create table {{ twin }} as {{ relation }}
  engine = {{ engine }}
{%- endmacro %}
