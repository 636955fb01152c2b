{# The problems with a column that orders the changes of a row. #}
{% macro get_version_column_problems(columns, version) %}
  {%- if version not in columns -%}
    {%- do return(["version is " ~ version ~ ", which is not in columns."]) -%}
  {%- endif -%}
  {%- set type = columns[version] -%}
  {%- set ordered = ('tinyint', 'smallint', 'int', 'bigint', 'date', 'timestamp') -%}
  {%- if versioned_collapsing.get_type_name(type) not in ordered -%}
    {%- do return([
        "version: " ~ version ~ " is " ~ type ~ ", but a version must be an integer, a date or a timestamp."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
