{# Stops the run if the profile has settings that leave rows out. dbt's own queries about the tables could then be
   wrong. #}
{% macro validate_settings(unique_id, profile) %}
  {%- set all = versioned_collapsing.get_pinned_settings() -%}
  {%- set pinned = versioned_collapsing.get_cutting_settings() -%}
  {%- set problems = [] -%}
  {%- if not profile -%}
    {%- do problems.append(
        "A setting of the profile hides rows of system.settings, so the settings cannot be checked. Remove "
        ~ (pinned.keys() | list + versioned_collapsing.get_refused_settings()) | join(', ')
        ~ " from dbt's custom_settings and from the server's user profile."
    ) -%}
  {%- endif -%}
  {%- for name, value in profile.items() if name not in all or name in pinned
      and value != pinned[name] | string | replace("'", '') -%}
    {%- do problems.append(
        name ~ " is '" ~ value ~ "' in dbt's custom_settings or in the server's user profile. It can leave out "
        ~ "rows or add columns without an error. Remove it there."
    ) -%}
  {%- endfor -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(
        unique_id ~ " cannot run with the settings of the profile:\n  - " ~ problems | join("\n  - ")
    ) -%}
  {%- endif -%}
{% endmacro %}
