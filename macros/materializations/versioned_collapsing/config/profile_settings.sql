{# The values of the pinned settings in the profile, and those of refused settings that are set. Empty if the answer is
   incomplete: a setting such as `limit` may not show in system.settings, but it hides other rows there. #}
{% macro read_profile_settings() %}
  {%- set pinned = versioned_collapsing.get_pinned_settings() -%}
  {%- set query -%}
    select name as _dbt_name, value as _dbt_value
    from system.settings
    where name in ({{ versioned_collapsing.quote_literals(pinned) }})
      or (name in ({{ versioned_collapsing.quote_literals(versioned_collapsing.get_refused_settings()) }})
          and value <> default)
  {%- endset -%}
  {%- set profile = {} -%}
  {%- for row in run_query(query).rows if row['_dbt_name'] is defined -%}
    {%- do profile.update({row['_dbt_name']: (row['_dbt_value'] or '') | string}) -%}
  {%- endfor -%}
  {%- do return(profile if pinned | reject('in', profile) | list == [] else {}) -%}
{% endmacro %}


{# Settings that wrap a select in another one, or give a table more columns. Older servers lack them, so no statement
   can name them. #}
{% macro get_refused_settings() %}
  {%- do return([
      'asterisk_include_virtual_columns', 'filter', 'implicit_table_at_top_level', 'order', 'select', 'sort',
  ]) -%}
{% endmacro %}


{# The model's select, which must mean what it means in the profile. Where the statements around it pin other values,
   its own `settings` clause sets the values of the profile again. #}
{% macro get_select_in_profile_sql(sql, profile) %}
  {%- set without_meaning = (
      'enable_analyzer', 'deduplicate_insert', 'deduplicate_insert_select', 'optimize_injective_functions_inside_uniq',
  ) -%}
  {%- set kept = {} -%}
  {%- for name, value in versioned_collapsing.get_pinned_settings().items()
      if name not in without_meaning and profile[name] != value | string | replace("'", '') -%}
    {%- do kept.update({name: profile[name]}) -%}
  {%- endfor -%}
  {%- do return(
      'select * from (\n' ~ sql ~ '\n) settings ' ~ versioned_collapsing.get_settings_list_sql(kept) if kept else sql
  ) -%}
{% endmacro %}
