{# Stops the run when the profile has settings that leave rows out: dbt's own look at the tables could be wrong. #}
{% macro validate_settings(unique_id, profile) %}
  {%- set all = versioned_collapsing.get_pinned_settings() -%}
  {%- set pinned = versioned_collapsing.get_cutting_settings() -%}
  {%- set problems = [] -%}
  {%- if not profile -%}
    {%- do problems.append(
        "settings of the profile: they leave out what is read of system.settings. Take "
        ~ (pinned.keys() | list + versioned_collapsing.get_refused_settings()) | join(', ')
        ~ " out of dbt's custom_settings and of the server's user profile."
    ) -%}
  {%- endif -%}
  {%- for name, value in profile.items() if name not in all or name in pinned
      and value != pinned[name] | string | replace("'", '') -%}
    {%- do problems.append(
        name ~ ": is '" ~ value ~ "' in dbt's custom_settings or in the server's user profile, and dbt would read "
        ~ "other rows or columns than its tables have. Take it out there."
    ) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(unique_id, problems) -%}
{% endmacro %}
