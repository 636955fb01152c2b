{# The names of the given columns that a row lacks. `row` is a map. #}
{% macro get_missing_fields_sql(names, row, prefix='') -%}
  {%- set texts = [] -%}
  {%- set candidates = [] -%}
  {%- for name in names -%}
    {%- do texts.append('_text_' ~ prefix ~ name ~ ' is null') -%}
    {%- do candidates.append('if(_text_' ~ prefix ~ name ~ " is null, '" ~ name ~ "', null)") -%}
  {%- endfor -%}
  if(
    {{ texts | join(' or ') or 'false' }},
    array_except(
      array({{ candidates | join(', ') }}),
      array_append({{ versioned_collapsing._get_fields_sql(row) }}, null)
    ),
    cast(array() as array<string>)
  )
{%- endmacro %}


{% macro _get_fields_sql(row) %}
  {%- do return('coalesce(map_keys(' ~ row ~ '), cast(array() as array<string>))') -%}
{% endmacro %}


{# The problem of a row that lacks a column, as a condition with a reason. `missing` has the names of the columns that
   the row lacks. #}
{% macro get_missing_field_problems(missing_fields, missing='_missing_fields', label='') %}
  {%- if missing_fields != 'refuse' -%}
    {%- do return([]) -%}
  {%- endif -%}
  {%- do return([{
      'condition': 'get(' ~ missing ~ ', 0) is not null',
      'reason': "concat('" ~ label ~ "', get(" ~ missing ~ ", 0), ' is missing')",
  }]) -%}
{% endmacro %}


{# The problems with required columns if rows may lack columns, as conditions with reasons: the column is there and
   null, or it is not there and the row is new to the table. #}
{% macro get_kept_field_problems(missing_fields, required, places, toasted, row, is_new) %}
  {%- set problems = [] -%}
  {%- set fields = versioned_collapsing._get_fields_sql(row) -%}
  {%- for name in required if missing_fields == 'keep' and name not in places -%}
    {%- set is_left_out = ' and ' ~ versioned_collapsing.get_field_sql('_after', name) ~ ' is null' -%}
    {%- do problems.append({
        'condition': '_text_' ~ name ~ ' is null' ~ (is_left_out if name in toasted else '')
            ~ ' and (' ~ is_new ~ ' or array_contains(' ~ fields ~ ", '" ~ name ~ "'))",
        'reason': "'" ~ name ~ " is null'",
    }) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# The problems with a row of text, each as a condition and a reason (an expression). The first condition that holds
   counts. For a delete, only the key and the version are checked. #}
{% macro get_row_problems(
    key, columns, version, is_deleted, required, ranges, toasted=[]
) %}
  {%- set problems = [] -%}
  {%- set places = versioned_collapsing.get_places(key, columns, version) -%}
  {%- for name in key -%}
    {%- do problems.append({'condition': '_text_' ~ name ~ ' is null', 'reason': "'key " ~ name ~ " is null'"}) -%}
  {%- endfor -%}
  {%- for name in places -%}
    {%- do problems.extend(versioned_collapsing.get_value_problems(
        name, columns[name], ranges, name in toasted
    )) -%}
  {%- endfor -%}
  {%- do problems.append({'condition': is_deleted, 'reason': 'null'}) -%}
  {%- do problems.extend(versioned_collapsing.get_payload_problems(
      columns, places, required, ranges, toasted
  )) -%}
  {%- do return(problems) -%}
{% endmacro %}


{# The columns that a delete needs too. #}
{% macro get_places(key, columns, version) %}
  {%- do return(key + ([version] if version in columns and version not in key else [])) -%}
{% endmacro %}


{# Why the text of a column is not a value of its type. #}
{% macro get_value_problems(
    name, type, ranges, is_toasted=false, prefix='', label=''
) %}
  {%- set text = '_text_' ~ prefix ~ name -%}
  {%- set typed = prefix ~ name -%}
  {%- set misfit = versioned_collapsing.get_misfit_sql(text, typed, type) -%}
  {%- set range = ranges.get(name) or versioned_collapsing.get_default_range(type) -%}
  {%- set problems = [] -%}
  {%- if not is_toasted -%}
    {%- do problems.append({
        'condition': 'array_contains(_placeholders' ~ prefix ~ ', ' ~ text ~ ')',
        'reason': "'" ~ label ~ name ~ " is unavailable'",
    }) -%}
  {%- endif -%}
  {%- if misfit -%}
    {%- do problems.append({'condition': misfit, 'reason': "'" ~ label ~ name ~ " does not fit " ~ type ~ "'"}) -%}
  {%- endif -%}
  {%- if range and range != 'clamp' -%}
    {%- do problems.append({
        'condition': typed ~ " not between cast('" ~ range[0] ~ "' as " ~ type ~ ") and cast('" ~ range[1] ~ "' as "
            ~ type ~ ")",
        'reason': "'" ~ label ~ name ~ " is outside " ~ range[0] ~ " to " ~ range[1] ~ "'",
    }) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro get_payload_problems(
    columns, places, required, ranges, toasted=[], prefix='', label=''
) %}
  {%- set problems = [] -%}
  {%- for name in required if name not in places -%}
    {%- set is_left_out = ' and ' ~ versioned_collapsing.get_field_sql('_after', name) ~ ' is null'
        if name in toasted else '' -%}
    {%- do problems.append({
        'condition': '_text_' ~ prefix ~ name ~ ' is null' ~ is_left_out,
        'reason': "'" ~ label ~ name ~ " is null'",
    }) -%}
  {%- endfor -%}
  {%- for name, type in columns.items() if name not in places -%}
    {%- do problems.extend(versioned_collapsing.get_value_problems(
        name, type, ranges, name in toasted, prefix, label
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro get_missing_version_problem(version) %}
  {%- do return({'condition': '_text_' ~ version ~ ' is null', 'reason': "'version " ~ version ~ " is null'"}) -%}
{% endmacro %}
