{# The change set in a landing table. `layout` says where it is: `payload`, the columns; `version`, `is_deleted` and
   `watermark`, expressions; `condition`, for the rows to read; `control`, expressions for further control columns by
   name; `rows` and `columns`, what to select from and which columns, if it is not the table itself and all of it;
   `settles_ties`, whether a delete and a row can have one version. #}
{% macro get_landed_changes_sql(found, layout) -%}
  select
    {%- for name in layout.payload %}
    {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {{ layout.version }} as _version,
    {{ layout.is_deleted }} as _is_deleted,
    {%- for name, sql in layout.control.items() %}
    {{ sql }} as {{ name }},
    {%- endfor %}
    {{ versioned_collapsing.get_watermark_columns_sql(found, layout.watermark) }}
  from (
    select {{ layout.columns or found.all_columns }}
    from {{ layout.rows or found.relation }}
    where {{ layout.condition }}
    {%- if layout.settles_ties and layout.is_deleted != 'false' %}
      and {{ versioned_collapsing._get_is_not_replaced_sql(
          found, layout, versioned_collapsing.get_unique_key(model.config)
      ) }}
    {%- endif %}
  )
{%- endmacro %}


{# Of a delete and a row with one key and one version, the one that landed last counts, as in the FINAL of a
   ReplacingMergeTree: a transaction that deletes a row and inserts it again has updated it. Only versions of deletes
   are looked at. The name of a part begins with its partition and the number of its first block. #}
{% macro _get_is_not_replaced_sql(found, layout, key) %}
  {%- if not key or not found.engine.endswith('MergeTree') -%}{%- do return('true') -%}{%- endif -%}
  {%- set names = versioned_collapsing.quote_names(key) -%}
  {%- set place = "(toUInt64OrZero(splitByChar('_', _part)[2]), _part_offset)" -%}
  {%- set from = 'from ' ~ found.relation ~ ' where ' ~ layout.condition -%}
  {%- set deletes = 'select ' ~ names ~ ', ' ~ layout.version ~ ' ' ~ from ~ ' and ' ~ layout.is_deleted -%}
  {%- do return(
      '(' ~ names ~ ', ' ~ layout.version ~ ', toBool(' ~ layout.is_deleted ~ ')) not in (select ' ~ names ~ ', '
      ~ layout.version ~ ' as _dbt_version, not argMax(toBool(' ~ layout.is_deleted ~ '), ' ~ place ~ ') ' ~ from
      ~ ' and (' ~ names ~ ', ' ~ layout.version ~ ') in (' ~ deletes ~ ') group by ' ~ names
      ~ ', _dbt_version having uniqExact(toBool(' ~ layout.is_deleted ~ ')) = 2)'
  ) -%}
{% endmacro %}


{# What tells the materialization how far a landing table has been read. #}
{% macro get_watermark_columns_sql(found, watermark) -%}
    {{ watermark }} as _watermark,
    tuple({{ versioned_collapsing.quote_literal(found.name) }}, toUUID('{{ found.uuid }}')) as _landing
{%- endmacro %}


{# The condition for the rows that this run is to read. `keeps_all`: whether what was read stays in the table. #}
{% macro read_range(found, watermark, overlap, through, rows=none, keeps_all=true) %}
  {%- set type = versioned_collapsing.read_query_columns(
      'select ' ~ watermark ~ ' as _watermark from ' ~ (rows or found.relation)
  )[0].type -%}
  {%- do versioned_collapsing.validate_watermark(found, watermark, type, overlap) -%}
  {%- set last = versioned_collapsing.read_watermark(found.name, this, model) -%}
  {%- do versioned_collapsing.validate_same_landing(found, last, model) -%}
  {%- if last.text and keeps_all and versioned_collapsing.is_building() -%}
    {%- set is_read = versioned_collapsing.get_range_sql(watermark, type, none, overlap, last.text) -%}
    {%- do versioned_collapsing.warn_of_emptied_landing(found, rows or found.relation, is_read, last, model) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.get_range_sql(watermark, type, last.text, overlap, through)) -%}
{% endmacro %}


{# The names of the columns that a change leaves as they are: those in which it has the placeholder of Debezium. #}
{% macro get_placeholder_control(toasted, unavailable_value) %}
  {%- if not toasted -%}{%- do return({}) -%}{%- endif -%}
  {%- set placeholder = versioned_collapsing.quote_literal(unavailable_value) -%}
  {%- set names = [] -%}
  {%- for name in toasted -%}
    {%- do names.append(
        'if(ifNull(' ~ versioned_collapsing.quote_name(name) ~ ' = ' ~ placeholder ~ ', false), '
        ~ versioned_collapsing.quote_literal(name) ~ ", '')"
    ) -%}
  {%- endfor -%}
  {%- do return({'_unset': "arrayFilter(name -> name <> '', [" ~ names | join(', ') ~ '])'}) -%}
{% endmacro %}
