{# The condition for the events of one table, if a landing table can have events of several: an event of another table
   must be neither a row nor a truncate of this one. `fields` has expressions for `db`, `schema` and `table` of an
   event, as texts that can be null. `given` is a name, a pattern or a list of them. Without it, the table of the first
   row counts, and any other one stops the run. Events that do not name their table belong to this one. #}
{% macro read_is_of_table_sql(found, fields, given, condition, watermark) %}
  {%- set name = versioned_collapsing._get_event_table_sql(fields) -%}
  {%- set first = none if given else versioned_collapsing._read_first_event_table(found, name, watermark) -%}
  {%- if not given and not first -%}{%- do return('true') -%}{%- endif -%}
  {%- set is_of_table = versioned_collapsing._get_matches_sql(name, given) if given
      else name ~ " in ('', " ~ versioned_collapsing.quote_literal(first) ~ ')' -%}
  {%- set others = versioned_collapsing._read_event_tables(found, name, condition ~ ' and not (' ~ is_of_table ~ ')')
      if versioned_collapsing.is_building() else [] -%}
  {%- if others and given -%}
    {%- do log(found.relation ~ ': ignored events of other tables: ' ~ others | join(', '), info=true) -%}
  {%- endif -%}
  {%- do versioned_collapsing.validate_event_tables(found, first, [] if given else others) -%}
  {%- do return(is_of_table) -%}
{% endmacro %}

{# The name of an event's table, qualified by its schema, or by its database if the source has no schemas. #}
{% macro _get_event_table_sql(fields) %}
  {%- set schema = 'ifNull(nullIf(' ~ fields.schema ~ ", ''), ifNull(" ~ fields.db ~ ", ''))" -%}
  {%- do return(
      'if(ifNull(' ~ fields.table ~ ", '') = '', '', concat(" ~ schema ~ ', if(' ~ schema ~ " = '', '', '.'), "
      ~ 'assumeNotNull(' ~ fields.table ~ ')))'
  ) -%}
{% endmacro %}

{# A name without a dot matches any schema. `*` stands for any characters but a dot. #}
{% macro _get_matches_sql(name, given) %}
  {%- set patterns = [] -%}
  {%- for pattern in versioned_collapsing.as_list(given) -%}
    {%- do patterns.append(
        ('' if '.' in pattern else '([^.]*[.])?') ~ modules.re.escape(pattern) | replace('\\*', '[^.]*')
    ) -%}
  {%- endfor -%}
  {%- do return(
      '(' ~ name ~ " = '' or match(" ~ name ~ ', '
      ~ versioned_collapsing.quote_literal('^(' ~ patterns | join('|') ~ ')$') ~ '))'
  ) -%}
{% endmacro %}

{# The tables and the number of events of each, as text. #}
{% macro _read_event_tables(found, name, condition) %}
  {%- set query -%}
    select {{ name }} as _dbt_table, count() as _dbt_n
    from (select {{ found.all_columns }} from {{ found.relation }})
    where {{ condition }}
    group by _dbt_table
    order by _dbt_n desc, _dbt_table
    limit 20
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set tables = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do tables.append(row['_dbt_table'] ~ ' (' ~ row['_dbt_n'] ~ ')') -%}
  {%- endfor -%}
  {%- do return(tables) -%}
{% endmacro %}

{% macro _read_first_event_table(found, name, watermark) %}
  {%- set query -%}
    select {{ name }} as _dbt_table
    from (select {{ found.all_columns }} from {{ found.relation }})
    where _dbt_table <> ''
    {%- if watermark %}
    order by {{ watermark }}, _dbt_table
    {%- endif %}
    limit 1
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set rows = run_query(query).rows -%}
  {%- do return(rows[0]['_dbt_table'] if rows else '') -%}
{% endmacro %}

{% macro validate_event_tables(found, first, others) %}
  {%- if others -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        found.relation ~ " has events of several tables: " ~ first ~ ", and " ~ others | join(', ') ~ ". Name the one "
        ~ "whose rows the model has, such as table='" ~ first ~ "'. It can be a list, and * stands for any characters."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}
