{# A column that orders the changes of a row. #}
{% macro get_version_column_problems(columns, version) %}
  {%- if version not in columns -%}
    {%- do return(["version: names " ~ version ~ ", which columns does not have."]) -%}
  {%- elif versioned_collapsing.get_type_name(columns[version]) not in ('tinyint', 'smallint', 'int', 'bigint', 'date', 'timestamp') -%}
    {%- do return(["version: " ~ version ~ " is " ~ columns[version] ~ ". A version is an integer, a date or a timestamp."]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
