{# The settings clause of a statement. It has all settings that could change the result: the server's user profile, or
   `custom_settings` in dbt's profile, may have set any of them. `more` adds settings for this statement. `apply` marks
   the statement, so that others see that the holder of the lock is at work. Statements that take no time do without
   it. #}
{% macro get_settings_sql(apply=none, more={}) %}
  {%- set settings = versioned_collapsing.get_pinned_settings() -%}
  {%- for name, value in more.items() -%}
    {%- do settings.update({name: versioned_collapsing.quote_literal(value) if value is string else value}) -%}
  {%- endfor -%}
  {%- if apply -%}
    {%- set log_comment = versioned_collapsing.get_log_comment(apply.lock.run_id if apply.lock else apply.run_id) -%}
    {%- do settings.update({'log_comment': versioned_collapsing.quote_literal(log_comment)}) -%}
  {%- endif -%}
  {%- set rendered = [] -%}
  {%- for name, value in settings.items() -%}
    {%- do rendered.append(name ~ ' = ' ~ value) -%}
  {%- endfor -%}
  {%- do return('settings ' ~ rendered | join(', ')) -%}
{% endmacro %}


{% macro get_settings_list_sql(settings) %}
  {%- set rendered = [] -%}
  {%- for name, value in settings.items() -%}
    {%- do rendered.append(name ~ ' = ' ~ (versioned_collapsing.quote_literal(value) if value is string else value)) -%}
  {%- endfor -%}
  {%- do return(rendered | join(', ')) -%}
{% endmacro %}
