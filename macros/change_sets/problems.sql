{# The names of the given columns that a row lacks. `row` is a map. #}
{% macro get_missing_fields_sql(names, row, prefix='') -%}
  {%- set text = '_text_' ~ prefix ~ '{}' -%}
  if(
    {{ versioned_collapsing.get_texts(text ~ ' is null', names) | join(' or ') or 'false' }},
    array_except(
      array({{ versioned_collapsing.get_texts('if(' ~ text ~ " is null, '{}', null)", names) | join(', ') }}),
      array_append({{ versioned_collapsing._get_fields_sql(row) }}, null)
    ),
    cast(array() as array<string>)
  )
{%- endmacro %}

{% macro _get_fields_sql(row) %}
  {%- do return('coalesce(map_keys(' ~ row ~ '), cast(array() as array<string>))') -%}
{% endmacro %}

{# The problem of a row that lacks a column. `missing` has the names of the columns that the row lacks. #}
{% macro get_missing_field_problems(missing_fields, missing='_missing_fields', label='') %}
  {%- set name = 'get(' ~ missing ~ ', 0)' -%}
  {%- do return(
      [(name ~ ' is not null', "concat('" ~ label ~ "', " ~ name ~ ", ' is missing')")]
      if missing_fields == 'refuse' else []
  ) -%}
{% endmacro %}

{# The problems with required columns if rows may lack columns: the column is there and null, or it is not there and the
   row is new to the table. #}
{% macro get_kept_field_problems(missing_fields, required, places, toasted, row, is_new) %}
  {%- set problems = [] -%}
  {%- set fields = versioned_collapsing._get_fields_sql(row) -%}
  {%- for name in required if missing_fields == 'keep' and name not in places -%}
    {%- do problems.append((
        versioned_collapsing._get_is_null_sql(name, toasted) ~ ' and (' ~ is_new ~ ' or array_contains(' ~ fields
            ~ ", '" ~ name ~ "'))",
        "'" ~ name ~ " is null'",
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# Whether a required column is null. One whose value PostgreSQL did not send is not. #}
{% macro _get_is_null_sql(name, toasted, prefix='') %}
  {%- set is_left_out = " and _after['" ~ name ~ "'] is null" if name in toasted else '' -%}
  {%- do return('_text_' ~ prefix ~ name ~ ' is null' ~ is_left_out) -%}
{% endmacro %}

{# The problems with a row of text. For a delete, only the key and the version are checked. #}
{% macro get_row_problems(key, columns, version, is_deleted, required, ranges, toasted=[]) %}
  {%- set problems = [] -%}
  {%- set places = versioned_collapsing.get_places(key, columns, version) -%}
  {%- for name in key -%}
    {%- do problems.append(('_text_' ~ name ~ ' is null', "'key " ~ name ~ " is null'")) -%}
  {%- endfor -%}
  {%- for name in places -%}
    {%- do problems.extend(versioned_collapsing.get_value_problems(name, columns[name], ranges, name in toasted)) -%}
  {%- endfor -%}
  {%- do return(
      problems + [(is_deleted, 'null')]
      + versioned_collapsing.get_payload_problems(columns, places, required, ranges, toasted)
  ) -%}
{% endmacro %}

{# The columns that a delete needs too. #}
{% macro get_places(key, columns, version) %}
  {%- do return(key + ([version] if version in columns and version not in key else [])) -%}
{% endmacro %}

{# Why the text of a column is not a value of its type. #}
{% macro get_value_problems(name, type, ranges, is_toasted=false, prefix='', label='') %}
  {%- set text = '_text_' ~ prefix ~ name -%}
  {%- set typed = prefix ~ name -%}
  {%- set misfit = versioned_collapsing.get_misfit_sql(text, typed, type) -%}
  {%- set range = ranges.get(name) or versioned_collapsing.get_default_range(type) -%}
  {%- set named = "'" ~ label ~ name -%}
  {%- set problems = [] -%}
  {%- if not is_toasted -%}
    {%- set is_placeholder = 'array_contains(_placeholders' ~ prefix ~ ', ' ~ text ~ ')' -%}
    {%- do problems.append((is_placeholder, named ~ " is unavailable'")) -%}
  {%- endif -%}
  {%- if misfit -%}
    {%- do problems.append((misfit, named ~ ' does not fit ' ~ type ~ "'")) -%}
  {%- endif -%}
  {%- if range and range != 'clamp' -%}
    {%- do problems.append((
        typed ~ " not between cast('" ~ range | join("' as " ~ type ~ ") and cast('") ~ "' as " ~ type ~ ')',
        named ~ ' is outside ' ~ range | join(' to ') ~ "'",
    )) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro get_payload_problems(columns, places, required, ranges, toasted=[], prefix='', label='') %}
  {%- set problems = [] -%}
  {%- for name in required if name not in places -%}
    {%- do problems.append((
        versioned_collapsing._get_is_null_sql(name, toasted, prefix), "'" ~ label ~ name ~ " is null'"
    )) -%}
  {%- endfor -%}
  {%- for name, type in columns.items() if name not in places -%}
    {%- do problems.extend(versioned_collapsing.get_value_problems(
        name, type, ranges, name in toasted, prefix, label
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro get_missing_version_problem(version) %}
  {%- do return(('_text_' ~ version ~ ' is null', "'version " ~ version ~ " is null'")) -%}
{% endmacro %}
