{% macro _get_counts_sql(counts, columns) %}
  {%- set replaced = 'count_if(_is_replaced)' if versioned_collapsing.has_line_order(columns) else '' -%}
  {%- set expressions = {
      '_duplicates': 'sum(_repeats) - count_if(_is_conflict)' ~ (' - ' ~ replaced if replaced),
      '_conflicts': 'count_if(_is_conflict)',
      '_superseded': 'count(*) - 1' ~ (' + ' ~ replaced if replaced),
      '_derived': 'sum(_lefts)',
  } -%}
  {%- set selected = [] -%}
  {%- for name in counts + versioned_collapsing._get_derived_count(columns) -%}
    {%- do selected.append(expressions[name] ~ ' as ' ~ name) -%}
  {%- endfor -%}
  {%- do return(selected | join(', ')) -%}
{% endmacro %}


{# The count of changes that belong to no event, if there can be any. #}
{% macro _get_derived_count(columns) %}
  {%- do return(['_derived'] if '_key_before' in columns else []) -%}
{% endmacro %}
