{# What is sampled: the select of the live rows, the key, the columns, the column to sum, and the column to group by. #}
{% macro read_sample(node, table, changes, given) %}
  {%- set stored = versioned_collapsing.read_live_source(table) -%}
  {%- set config = node.config or {} -%}
  {%- set columns = versioned_collapsing.read_query_columns(stored) -%}
  {%- set key = versioned_collapsing.as_list(given.unique_key) or versioned_collapsing.get_unique_key(config) -%}
  {%- set relation = versioned_collapsing.get_truth_relation('which_engine', changes) if changes else none -%}
  {%- set changed = versioned_collapsing.read_query_columns('select * from ' ~ relation) | map(attribute='name') | list
      if relation else [] -%}
  {%- set own = {
      'is_deleted': versioned_collapsing.get_option(config, 'is_deleted', '_is_deleted'),
      'version': versioned_collapsing.get_option(config, 'version', '_version'),
  } -%}
  {%- set sample = {
      'table': table | string,
      'database': versioned_collapsing.quote_name(table.schema ~ '__which_engine_' ~ table.identifier),
      'schema': table.schema ~ '__which_engine_' ~ table.identifier,
      'stored': stored,
      'changes': relation,
      'key': key,
      'columns': columns,
      'is_deleted': given.is_deleted or (own.is_deleted if own.is_deleted in changed else none),
      'version': given.version or (own.version if own.version in changed else none),
      'rows': given.rows,
      'trials': given.trials,
      'reads': given.reads,
  } -%}
  {%- do versioned_collapsing.validate_sample(node, sample, given, changed) -%}
  {%- set others = columns | rejectattr('name', 'in', key + [own.version]) | list -%}
  {%- set summed = versioned_collapsing.get_summed_columns(others, given.sums) -%}
  {%- do return(dict(
      sample,
      total=versioned_collapsing.read_row_count('(' ~ stored ~ ')', 'true') | int,
      summed=summed[0] if summed else none,
      group=given.group_by or versioned_collapsing.read_group(stored, others)
  )) -%}
{% endmacro %}


{# The select of the live rows of a table, whatever its engine. #}
{% macro read_live_source(table) %}
  {%- set query -%}
    select engine, engine_full
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(table) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if 'CollapsingMergeTree' in found['engine'] -%}
    {%- set arguments = found['engine_full'].split('CollapsingMergeTree(')[1].split(')')[0].split(',') -%}
    {%- set sign = arguments[-2 if 'Versioned' in found['engine'] else -1].strip(' `') -%}
    {%- set sign = versioned_collapsing.quote_name(sign) -%}
    {%- do return('select * except (' ~ sign ~ ') from ' ~ table ~ ' final where ' ~ sign ~ ' = 1') -%}
  {%- endif -%}
  {%- do return('select * from ' ~ table ~ (' final' if 'ReplacingMergeTree' in found['engine'] else '')) -%}
{% endmacro %}


{# Columns that can be summed without rounding: the one that is asked for, or all. #}
{% macro get_summed_columns(columns, name) %}
  {%- set found = [] -%}
  {%- for column in columns if column.name == name or (not name
      and modules.re.match('(Nullable\\()?(Decimal|U?Int\\d+\\b)', column.type)) -%}
    {%- do found.append(column) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}


{# The first text column with more than one and at most 1000 values, to group by; none if there is no such column. #}
{% macro read_group(stored, columns) %}
  {%- set texts = [] -%}
  {%- for column in columns if modules.re.match('(LowCardinality\\()?(Nullable\\()?(String|Enum)', column.type) -%}
    {%- do texts.append(column.name) -%}
  {%- endfor -%}
  {%- if not texts -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set query -%}
    select {% for name in texts %}uniqCombined({{ versioned_collapsing.quote_name(name) }}) as n{{ loop.index }}
      {{- ', ' if not loop.last }}{% endfor %}
    from (select * from ({{ stored }}) limit 100000)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for name, number in zip(texts, run_query(query).rows[0].values()) if 1 < number | int <= 1000 -%}
    {%- do return(name) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}
