{# Whether every target has the row as it is in the new extract. #}
{% macro get_is_stored_sql(batches, is_new_to_a_target) %}
  {%- if this is none -%}
    {%- do return('max(_digest) filter (where not _is_new) <=> max(_digest) filter (where _is_new)') -%}
  {%- elif is_new_to_a_target -%}
    {%- do return('false') -%}
  {%- endif -%}
  {%- set conditions = [] -%}
  {%- for batch in batches -%}
    {%- do conditions.append(
        'max(_digest) filter (where _batch = ' ~ batch ~ ') <=> max(_digest) filter (where _is_new)'
    ) -%}
  {%- endfor -%}
  {%- do return('(' ~ conditions | join(' and ') ~ ')') -%}
{% endmacro %}
