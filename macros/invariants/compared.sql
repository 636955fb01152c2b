{# The rows of a table and those of a reference, key by key: what `reconcile` and the test `live_rows_equal` mean by
   equal. A key is the same if both sides have as many rows of it, and the sums of their checksums are equal. A cancel
   row takes away what its state row adds, so the table is read without FINAL.

   - compared: the columns, each with its `name`, its `type` in the table and its `given_type` in the reference
   - key: SQL expressions on these columns
   - live, given: both sides, each with its `rows`, for `from`, and the condition `where`; `live` with the `sign`
   - condition: which keys count

   Returns `_dbt_kind`: same, missing, unexpected, doubled or different. `_dbt_differing_columns` are computed only if
   the caller selects them. #}
{% macro get_compared_keys_sql(compared, key, live, given, condition='true') -%}
  {%- set names = compared | map(attribute='name') | list -%}
  select
    {{ key }},
    sum(_dbt_live) as _dbt_live_rows,
    sum(_dbt_given) as _dbt_given_rows,
    arrayMap(
      _dbt_at -> _dbt_at.1,
      arrayFilter(
        _dbt_at -> _dbt_at.2 <> 0,
        arrayZip(
          [{{ versioned_collapsing.quote_literals(names) }}],
          sumForEach(arrayMap(_dbt_hash -> _dbt_hash * (_dbt_live - _dbt_given), _dbt_hashes))
        )
      )
    ) as _dbt_differing_columns,
    multiIf(
      _dbt_live_rows = _dbt_given_rows and sum(cityHash64(_dbt_hashes) * (_dbt_live - _dbt_given)) = 0, 'same',
      _dbt_given_rows = 0, 'unexpected',
      _dbt_live_rows <= 0, 'missing',
      _dbt_live_rows > _dbt_given_rows, 'doubled',
      'different'
    ) as _dbt_kind
  from (
    select
      {%- for name in names %}
      _dbt_value_{{ loop.index }} as {{ versioned_collapsing.quote_name(name) }},
      {%- endfor %}
      [{% for name in names %}cityHash64(tuple(_dbt_value_{{ loop.index }}, _dbt_is_lost_{{ loop.index }})){{ ', '
          if not loop.last }}{% endfor %}] as _dbt_hashes,
      _dbt_live,
      _dbt_given
    from (
      select
        {%- for column in compared %}
        {{ versioned_collapsing.get_live_value_sql(column) }} as _dbt_value_{{ loop.index }},
        false as _dbt_is_lost_{{ loop.index }},
        {%- endfor %}
        toInt64({{ live.sign }}) as _dbt_live,
        toInt64(0) as _dbt_given
      from {{ live.rows }}
      where {{ live.where }}

      union all

      select
        {%- for column in compared %}
        {{ versioned_collapsing.get_given_value_sql(column) }} as _dbt_value_{{ loop.index }},
        {{ versioned_collapsing._get_is_lost_sql(column) }} as _dbt_is_lost_{{ loop.index }},
        {%- endfor %}
        toInt64(0) as _dbt_live,
        toInt64(1) as _dbt_given
      from {{ given.rows }}
      where {{ given.where }}
    )
  )
  where {{ condition }}
  group by {{ key }}
  having _dbt_live_rows <> 0 or _dbt_kind <> 'same'
{%- endmacro %}

{# The columns of a comparison, each with its types on both sides. #}
{% macro get_compared_columns(names, types, given_types) %}
  {%- set compared = [] -%}
  {%- for name in names -%}
    {%- set type = types.get(name, 'String') -%}
    {%- do compared.append({'name': name, 'type': type, 'given_type': given_types.get(name, type)}) -%}
  {%- endfor -%}
  {%- do return(compared) -%}
{% endmacro %}

{# Stops before ClickHouse does: ClickHouse's message quotes SQL that it cannot parse, which may hold a password. #}
{% macro validate_reference(caller_name, reference) %}
  {%- set text = versioned_collapsing.quote_literal('select * from ' ~ reference) -%}
  {%- set query = 'select isNull(formatQuerySingleLineOrNull(' ~ text ~ ')) as n '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- if execute and run_query(query).rows[0]['n'] | int -%}
    {%- do exceptions.raise_compiler_error(
        caller_name ~ ": ClickHouse cannot parse `reference`, " ~ versioned_collapsing.get_reference_text(reference)
        ~ ". It takes the name of a model, or what can stand after `from`: a table, a table function, a select in "
        ~ "parentheses."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# A reference in messages. Anything after its name may hold a password, as in
   `postgresql('host', 'db', 'orders', 'reader', '…')`. #}
{% macro get_reference_text(reference) %}
  {%- set text = reference | string | trim -%}
  {%- set name = modules.re.sub('[(\'$][\\s\\S]*', '', text) -%}
  {%- do return(text if name and name == text else name ~ '(…)') -%}
{% endmacro %}

{# Both sides must have the columns that are compared; `columns` are those that the user names. Types are empty while
   dbt parses, and if a table does not exist. #}
{% macro validate_compared_columns(caller_name, relation, reference, columns, names, types, given_types) %}
  {%- set unknown = versioned_collapsing.as_list(columns) | reject('in', types) | list if types else [] -%}
  {%- set lacking = names | reject('in', given_types) | list if given_types else [] -%}
  {%- set problems = [] -%}
  {%- if unknown -%}
    {%- do problems.append(
        "columns: " ~ relation ~ " lacks " ~ unknown | join(', ') ~ ". It has " ~ types | join(', ')
        ~ ". Correct the name."
    ) -%}
  {%- endif -%}
  {%- if lacking -%}
    {%- do problems.append(
        versioned_collapsing.get_reference_text(reference) ~ " lacks " ~ lacking | join(', ') ~ ". It has "
        ~ given_types | join(', ') ~ ". Correct the name, or select the column."
    ) -%}
  {%- endif -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(caller_name ~ ": " ~ problems | join("\n" ~ caller_name ~ ": ")) -%}
  {%- endif -%}
{% endmacro %}

{# The names of the columns that differ, according to the conditions in `differs`. #}
{% macro get_differing_columns_sql(names, differs) %}
  {%- do return(
      "arrayFilter((_dbt_name, _dbt_differs) -> _dbt_differs, ["
      ~ versioned_collapsing.quote_literals(names) ~ "], [" ~ differs | join(', ') ~ "])"
  ) -%}
{% endmacro %}

{# For each column, the condition that it has more than one value; null counts as a value. #}
{% macro get_columns_differ(names) %}
  {%- set differs = [] -%}
  {%- for name in names -%}
    {%- do differs.append('uniqExact(tuple(' ~ versioned_collapsing.quote_name(name) ~ ')) > 1') -%}
  {%- endfor -%}
  {%- do return(differs) -%}
{% endmacro %}

{# A column of the table in a comparison, as text if it is an Enum: a reference may have values that the Enum lacks. It
   is Nullable, like the reference's value: ClickHouse hashes 5 and a Nullable 5 differently. #}
{% macro get_live_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- if versioned_collapsing.is_nested_type(column.type) -%}{%- do return(name) -%}{%- endif -%}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- do return(versioned_collapsing.get_cast_or_null_sql(name, column.type, type)) -%}
{% endmacro %}

{% macro _get_compared_type(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- do return('String' if base.startswith('Enum') else base) -%}
{% endmacro %}

{# A column of the reference, in the type in which it is compared. Null stays null, and a value that does not fit
   becomes null, so that both show. The text of a day may go on with a time. #}
{% macro get_given_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- if versioned_collapsing.is_nested_type(type) -%}
    {%- do return('cast(' ~ name ~ ', ' ~ versioned_collapsing.quote_literal(type) ~ ')') -%}
  {%- endif -%}
  {%- set is_day = type in ('Date', 'Date32') and versioned_collapsing.get_base_type(column.given_type) == 'String' -%}
  {%- set given = 'left(' ~ name ~ ', 10)' if is_day else name -%}
  {%- do return(versioned_collapsing.get_cast_or_null_sql(given, column.given_type, type)) -%}
{% endmacro %}

{# Whether a value of the reference is not the same in the type of the table: it does not fit, or it says more. The rule
   is that of the rows that an apply takes. #}
{% macro _get_is_lost_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- if type in ('String', versioned_collapsing.get_base_type(column.given_type)) -%}
    {%- do return('false') -%}
  {%- endif -%}
  {%- set value = versioned_collapsing.get_given_value_sql(column) -%}
  {%- set fits = versioned_collapsing.get_fits_sql(name, value, column.given_type, type) -%}
  {%- do return('isNotNull(' ~ name ~ ') and not ifNull(' ~ fits ~ ', false)') -%}
{% endmacro %}

{# The types of the stored columns, by name, without the sign. #}
{% macro read_stored_columns(relation, sign) %}
  {%- set columns = {} -%}
  {%- for column in versioned_collapsing.read_table_columns(relation, ('', 'DEFAULT', 'MATERIALIZED'))
      if column.name != sign -%}
    {%- do columns.update({column.name: column.type}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}

{# The types of a reference's columns. Empty if the table or the reference does not exist yet: dbt compiles tests even
   then. #}
{% macro read_reference_types(table, reference) %}
  {%- if not table.columns -%}{%- do return({}) -%}{%- endif -%}
  {%- if reference is not string
      and adapter.get_relation(reference.database, reference.schema, reference.identifier) is none -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.read_types(reference)) -%}
{% endmacro %}

{# The types of the columns of anything that can follow `from`, by name. #}
{% macro read_types(relation) %}
  {%- set types = {} -%}
  {%- set query = 'describe (select * from ' ~ relation ~ ') ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- for row in run_query(query).rows -%}
    {%- do types.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(types) -%}
{% endmacro %}
