{% macro quote_literal(text) %}
  {%- do return("'" ~ versioned_collapsing.escape_literal(text) ~ "'") -%}
{% endmacro %}


{% macro quote_literals(texts) %}
  {%- set literals = [] -%}
  {%- for text in texts -%}{%- do literals.append(versioned_collapsing.quote_literal(text)) -%}{%- endfor -%}
  {%- do return(literals | join(', ')) -%}
{% endmacro %}


{# A text as it stands between the quotes of a string literal. #}
{% macro escape_literal(text) %}
  {%- do return(text | replace('\\', '\\\\') | replace("'", "\\'")) -%}
{% endmacro %}


{# A name as a quoted identifier, whatever characters it has. #}
{% macro quote_name(name) %}
  {%- do return(adapter.quote(name | replace('\\', '\\\\') | replace('"', '\\"'))) -%}
{% endmacro %}


{% macro quote_names(names) %}
  {%- set quoted = [] -%}
  {%- for name in names -%}{%- do quoted.append(versioned_collapsing.quote_name(name)) -%}{%- endfor -%}
  {%- do return(quoted | join(', ')) -%}
{% endmacro %}
