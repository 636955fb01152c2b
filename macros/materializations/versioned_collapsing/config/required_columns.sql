{# Whether a null in the column would leave a row without a place in the table. The key `order-id` is no expression of a
   column `order`, so the names of all columns are given. #}
{% macro is_required_column(name, options, names) %}
  {%- set places = [options.version] + options.unique_key + options.order_by + options.partition_by -%}
  {%- if name in places -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- for place in places if place not in names -%}
    {%- if name in versioned_collapsing._names_in(place) -%}
      {%- do return(true) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(false) -%}
{% endmacro %}


{# The names that an expression may mean a column by: neither its texts nor its functions. Of `a.b` also `a`. #}
{% macro _names_in(expression) %}
  {%- set names = [] -%}
  {%- set tokens = "'(?:[^'\\\\]|\\\\.)*'|`((?:[^`\\\\]|\\\\.)*)`|\"([^\"]*)\""
      ~ "|(?<![\\w.])([^\\W\\d][\\w.]*)(?!\\s*\\(|[\\w.])" -%}
  {%- for in_backticks, in_quotes, bare in modules.re.findall(tokens, expression | string) -%}
    {%- do names.extend([bare, bare.split('.')[0]] if bare else [in_backticks or in_quotes]) -%}
  {%- endfor -%}
  {%- do return(names | select | list) -%}
{% endmacro %}
