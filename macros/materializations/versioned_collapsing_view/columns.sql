{# Columns of a change set are Nullable unless the model declares otherwise, and a sorting key takes none. #}
{% macro validate_view_columns(source, options, sql) %}
  {%- set problems = [] -%}
  {%- if options.settings.get('allow_nullable_key', 0) | int -%}{%- do return(problems) -%}{%- endif -%}
  {%- for option in ('order_by', 'partition_by') -%}
    {%- for expression in options[option] -%}
      {%- for type in versioned_collapsing.read_types('(select ' ~ expression ~ ' from '
          ~ versioned_collapsing.get_subquery_sql(sql) ~ ')').values() if 'Nullable(' in type -%}
        {%- do problems.append(
            option ~ ": " ~ expression ~ " is " ~ type ~ ", and a key of a table takes no nulls. Declare the "
            ~ "`data_type` of the columns that it is made of in the properties of "
            ~ source.name ~ ", and rebuild: " ~ versioned_collapsing.get_rebuild_command(source)
            ~ ". Or put something in the place of nulls in the select, by ifNull."
        ) -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
