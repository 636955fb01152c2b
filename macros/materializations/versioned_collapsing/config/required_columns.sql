{# Whether the column must not be null: the version, and each column that the key, ORDER BY or PARTITION BY uses.
   `names` has the names of all columns: if one of them is `order-id`, the key `order-id` is no expression over a column
   `order`. #}
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


{# The names in an expression that can be columns. String literals and functions are left out. For `a.b`, `a` is
   returned too. #}
{% macro _names_in(expression) %}
  {%- set names = [] -%}
  {%- set tokens = "'(?:[^'\\\\]|\\\\.)*'|`((?:[^`\\\\]|\\\\.)*)`|\"([^\"]*)\""
      ~ "|(?<![\\w.])([^\\W\\d][\\w.]*)(?!\\s*\\(|[\\w.])" -%}
  {%- for in_backticks, in_quotes, bare in modules.re.findall(tokens, expression | string) -%}
    {%- do names.extend([bare, bare.split('.')[0]] if bare else [in_backticks or in_quotes]) -%}
  {%- endfor -%}
  {%- do return(names | select | list) -%}
{% endmacro %}
