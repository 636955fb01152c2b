{# Types in ClickHouse's own spelling, by the spelling that they have in the project: `BIGINT` is Int64. #}
{% macro read_canonical_types(types) %}
  {%- set canonical = {} -%}
  {%- for some in types | unique(case_sensitive=true) | batch(500) -%}
    {%- set names = [] -%}
    {%- for type in some -%}
      {%- set default = 'defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(type) ~ ')' -%}
      {%- do names.append('toTypeName(' ~ default ~ ')') -%}
    {%- endfor -%}
    {%- set query = 'select arrayJoin([' ~ names | join(', ') ~ ']) as _dbt_type' -%}
    {%- set found = run_query(query ~ ' ' ~ versioned_collapsing.get_settings_sql(none,
        {'print_pretty_type_names': 0})).columns[0].values() -%}
    {%- for type in some -%}
      {%- do canonical.update({type: found[loop.index0]}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(canonical) -%}
{% endmacro %}
