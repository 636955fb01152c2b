{# Why a row of the change set does not fit the table; empty if it fits. The payload is not checked in deletes, nor in
   columns that a change leaves as they are stored. #}
{% macro get_problem_sql(options, columns) %}
  {%- set place, payload = [], [] -%}
  {%- for column in columns.table if column.given_type is not none -%}
    {%- set is_place = column.name in options.unique_key
        or (column.name == options.version and options.delete_version == 'respect') -%}
    {%- do (place if is_place else payload).append(column) -%}
  {%- endfor -%}
  {%- set problems = versioned_collapsing._problems_sql(place, []) -%}
  {%- set excused = versioned_collapsing._problems_sql(payload, columns.given) -%}
  {%- if excused -%}
    {%- set is_deleted = versioned_collapsing._flag_sql(options.is_deleted, columns) -%}
    {%- do problems.append('if(' ~ is_deleted ~ ', emptyArrayString(), arrayConcat(' ~ excused | join(', ') ~ '))') -%}
  {%- endif -%}
  {%- if options.delete_version == 'ignore' and '_batch' in columns.given -%}
    {%- do problems.append("if(isNull(_dbt_given._batch), ['_batch is null'], emptyArrayString())") -%}
  {%- endif -%}
  {%- do problems.extend(versioned_collapsing._control_problems_sql(options, columns)) -%}
  {%- do return('arrayConcat(' ~ problems | join(', ') ~ ')[1]' if problems else "''") -%}
{% endmacro %}


{# Arrays of the problems in a row, one for each pair of types. A table may have a thousand columns or more, so a
   statement says only once how two types are compared. #}
{% macro _problems_sql(table, given_names) %}
  {%- set nulls, pairs = [], {} -%}
  {%- for column in table -%}
    {%- if versioned_collapsing.is_nullable_type(column.given_type)
        and not versioned_collapsing.is_nullable_type(column.type) -%}
      {%- do nulls.append(column) -%}
    {%- endif -%}
    {%- if versioned_collapsing.get_base_type(column.given_type) != versioned_collapsing.get_base_type(column.type) -%}
      {%- do pairs.setdefault((column.given_type, column.type), []).append(column) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set is_unset = ' and not has(_dbt_given._unset, _dbt_name)' if '_unset' in given_names else '' -%}
  {%- set problems = [] -%}
  {%- if nulls -%}
    {%- do problems.append(versioned_collapsing._named_problems_sql(
        nulls, ' is null', ['isNull({})'], '_dbt_value' ~ is_unset
    )) -%}
  {%- endif -%}
  {%- for (given_type, type), alike in pairs.items() -%}
    {%- set cast = versioned_collapsing._cast_or_null_sql('{}', given_type, type, 1) -%}
    {%- set fits = versioned_collapsing._fits_sql('_dbt_value', '_dbt_cast', given_type, type, 1) -%}
    {%- do problems.append(versioned_collapsing._named_problems_sql(
        alike,
        ' does not fit ' ~ type,
        ['{}', cast],
        'isNotNull(_dbt_value) and not ifNull(' ~ fits ~ ', false)' ~ is_unset
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
