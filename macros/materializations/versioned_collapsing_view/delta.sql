{# What the select returns now. Of each source, it reads only the columns that the feed has too. #}
{% macro get_state_sql(sources, described, sql) -%}
  {%- set replaced = namespace(sql=sql) -%}
  {%- for source in sources -%}
    {%- set replaced.sql = versioned_collapsing.get_replaced_source_sql(
        replaced.sql, source, versioned_collapsing._get_rows_now_sql(source, described)
    ) -%}
  {%- endfor -%}
  {{ replaced.sql }}
{%- endmacro %}

{# The select with `rows_sql` in the place of a source, which the select names once. A source without an alias gets its
   own name as alias. Comments may stand between a source and its alias. #}
{% macro get_replaced_source_sql(sql, source, rows_sql) %}
  {%- set parts = sql.split(source.relation | string, 1) -%}
  {%- set between = '(?:\\s|--[^\\n]*\\n|#[ !][^\\n]*\\n|/\\*(?:(?!\\*/)[\\s\\S])*\\*/)+' -%}
  {%- set has_alias = modules.re.match(
      between ~ '(as\\b|(?!(' ~ versioned_collapsing._get_words_after_a_table() | join('|') ~ ')\\b)[a-z_`"])',
      parts[1], modules.re.IGNORECASE
  ) -%}
  {%- do return(
      parts[0] ~ '(\n' ~ rows_sql ~ '\n)'
      ~ ('' if has_alias else ' as ' ~ versioned_collapsing.quote_name(source.relation.identifier)) ~ parts[1]
  ) -%}
{% endmacro %}

{% macro _get_words_after_a_table() %}
  {%- do return([
      'all', 'anti', 'any', 'array', 'asof', 'cross', 'except', 'final', 'format', 'full', 'global', 'group', 'having',
      'inner', 'intersect', 'into', 'join', 'left', 'limit', 'natural', 'offset', 'on', 'order', 'paste', 'prewhere',
      'qualify', 'right', 'sample', 'semi', 'settings', 'union', 'using', 'where', 'window',
  ]) -%}
{% endmacro %}

{% macro _get_rows_now_sql(source, described) -%}
  select {{ versioned_collapsing.quote_names(described[source.position].table | map(attribute='name')) }}
  from {{ source.relation }}
{%- endmacro %}

{# What the select returns now, less what it returned when the view had used the sources up to `used`. Every sum is
   multiplied by the signs of all sources, so the difference is a sum of products:

   (a + da)(b + db) - ab = da b + (a + da) db

   Each source that has changed gives one product: its changes, with the sources before it as they are now, and the
   sources after it as they were. #}
{% macro get_delta_sql(sources, state, described, sql) -%}
  {%- set terms = [] -%}
  {%- for changed in versioned_collapsing.get_changed_sources(sources, state) -%}
    {%- set replaced = namespace(sql=sql) -%}
    {%- for source in sources -%}
      {%- set position = source.position -%}
      {%- set rows_sql -%}
        {%- if position == changed.position -%}
          {{ versioned_collapsing._get_changed_rows_sql(source, state, described) }}
        {%- elif position > changed.position and state.last[position] > state.used[position] -%}
          {{ versioned_collapsing._get_rows_before_sql(source, state, described) }}
        {%- else -%}
          {{ versioned_collapsing._get_rows_now_sql(source, described) }}
        {%- endif -%}
      {%- endset -%}
      {%- set replaced.sql = versioned_collapsing.get_replaced_source_sql(replaced.sql, source, rows_sql) -%}
    {%- endfor -%}
    {%- do terms.append('select * from ' ~ versioned_collapsing.get_subquery_sql(replaced.sql)) -%}
  {%- endfor -%}
  {{ terms | join('\n\nunion all\n\n') }}
{%- endmacro %}

{# Reads only the applies to the table that has the name now: a full refresh that died may have left others. #}
{% macro _get_changed_rows_sql(source, state, described) -%}
  select {{ versioned_collapsing.quote_names(described[source.position].table | map(attribute='name')) }}
  from {{ versioned_collapsing.get_feed_relation(source.relation) }}
  where _apply in (
    select apply
    from {{ versioned_collapsing.get_ledger_relation(source.relation) }}
    where target_uuid = {{ versioned_collapsing.get_table_uuid_sql(source.relation) }}
      and apply between {{ state.used[source.position] + 1 }} and {{ state.last[source.position] }}
  )
{%- endmacro %}

{# The rows before the changes: the rows now, and the rows of the changes with the opposite sign. #}
{% macro _get_rows_before_sql(source, state, described) -%}
  {%- set sign = versioned_collapsing.quote_name(source.sign) -%}
  {%- set names = described[source.position].table | map(attribute='name') | reject('equalto', source.sign) -%}
  {%- set others = versioned_collapsing.quote_names(names | list) -%}
  select {{ others }}, {{ sign }} from {{ source.relation }}
  union all
  select {{ others }}, toInt8(-{{ sign }}) as {{ sign }}
  from (
    {{ versioned_collapsing._get_changed_rows_sql(source, state, described) }}
  )
{%- endmacro %}
