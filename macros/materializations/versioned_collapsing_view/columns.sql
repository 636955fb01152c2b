{# Columns of a change set are Nullable unless the model declares otherwise, but a key of a table cannot be Nullable. #}
{% macro validate_view_columns(model, options, sql) %}
  {%- set problems = [] -%}
  {%- if not options.settings.get('allow_nullable_key', 0) | int -%}
    {%- for option in ('order_by', 'partition_by') -%}
      {%- do problems.extend(versioned_collapsing._read_nullable_key_problems(option, options, sql)) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'versioned_collapsing_view') -%}
{% endmacro %}


{% macro _read_nullable_key_problems(option, options, sql) %}
  {%- set problems = [] -%}
  {%- set commands = [] -%}
  {%- for source in options.sources -%}
    {%- do commands.append(versioned_collapsing.get_rebuild_command(source.node)) -%}
  {%- endfor -%}
  {%- for expression in options[option] -%}
    {%- set query = '(select ' ~ expression ~ ' from ' ~ versioned_collapsing.get_subquery_sql(sql) ~ ')' -%}
    {%- for type in versioned_collapsing.read_types(query).values() if 'Nullable(' in type -%}
      {%- do problems.append(
          option ~ ": " ~ expression ~ " is " ~ type ~ ", but a key of a table cannot be null. Replace nulls in the "
          ~ "select with ifNull. Or set settings={'allow_nullable_key': 1}. Or declare the `data_type` of the column "
          ~ "in the properties of its table, and rebuild that table: " ~ commands | join(', or ')
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
