{# A key as SQL: the names of columns quoted, what else is given as it is. #}
{% macro _get_key_sql(key, columns) %}
  {%- set parts = [] -%}
  {%- for name in ([] if key is none else [key] if key is string else key) -%}
    {%- do parts.append(versioned_collapsing.quote_name(name) if name in columns else name) -%}
  {%- endfor -%}
  {%- do return(parts | join(', ')) -%}
{% endmacro %}


{# A name without the quotes around it. #}
{% macro _strip_quotes(name) %}
  {%- if not name or name | length < 3 or name[0] not in '`"' or name[-1] != name[0] -%}
    {%- do return(name) -%}
  {%- endif -%}
  {%- do return(modules.re.sub('\\\\(.)', '\\1', name[1:-1])) -%}
{% endmacro %}
