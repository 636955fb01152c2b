{# Engine, sign, version and sorting key of a table, none if it is not there. #}
{% macro read_collapsing_engine(relation) %}
  {%- set query -%}
    select engine, engine_full, sorting_key
    from system.tables
    where database = {{ versioned_collapsing.quote_literal(relation.schema) }}
      and name = {{ versioned_collapsing.quote_literal(relation.identifier) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set rows = run_query(query).rows -%}
  {%- if not rows -%}{%- do return(none) -%}{%- endif -%}
  {%- set engine = rows[0]['engine'] -%}
  {%- set is_versioned = engine.endswith('VersionedCollapsingMergeTree') -%}
  {%- set arguments = versioned_collapsing._get_engine_arguments(rows[0]['engine_full'])
      if engine.endswith('CollapsingMergeTree') else [] -%}
  {%- do return({
      'engine': engine,
      'is_collapsing': arguments != [],
      'sign': arguments[-2 if is_versioned else -1] if arguments else '',
      'version': arguments[-1] if is_versioned else '',
      'sorting_key': rows[0]['sorting_key'],
  }) -%}
{% endmacro %}


{# The names among the arguments of an engine, as system.tables writes it. #}
{% macro _get_engine_arguments(engine_full) %}
  {%- set names = [] -%}
  {%- set quoted = '`(?:[^`\\\\]|\\\\.)+`' -%}
  {%- set text = "'(?:[^'\\\\]|\\\\.)*'" -%}
  {%- set between = modules.re.findall('^\\w+\\(((?:' ~ quoted ~ '|' ~ text ~ '|[^)`\'])*)\\)', engine_full) -%}
  {%- set parts = modules.re.findall(quoted ~ '|' ~ text ~ '|\\w+', between | first | default('')) -%}
  {%- for part in parts if not part.startswith("'") -%}
    {%- do names.append(versioned_collapsing._strip_quotes(part)) -%}
  {%- endfor -%}
  {%- do return(names) -%}
{% endmacro %}


{# The tombstones of a table of versioned_collapsing, for `from`, without those that have expired. None if the table has
   none, or if they are of other keys than the test. #}
{% macro read_tested_tombstones(table, unique_key) %}
  {%- if not execute -%}{%- do return(none) -%}{%- endif -%}
  {%- set relation = versioned_collapsing.get_tombstones_relation(table.relation) -%}
  {%- set tables = versioned_collapsing.read_tables([table.relation, relation]) -%}
  {%- if table.relation.identifier not in tables or relation.identifier not in tables -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set found = tables[relation.identifier] -%}
  {%- set key = [] -%}
  {%- for name in versioned_collapsing.cut_at_commas(found.sorting_key) -%}
    {%- do key.append(versioned_collapsing._strip_quotes(name)) -%}
  {%- endfor -%}
  {%- if found.comment not in ('', 'Deletes of the table ' ~ tables[table.relation.identifier].uuid)
      or key != versioned_collapsing.as_list(unique_key) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set life = modules.re.findall('_remembered_at \\+ (toInterval\\w+\\(\\d+\\))', found.engine_full) | first -%}
  {%- do return(
      '(select * from ' ~ relation ~ (' where _remembered_at + ' ~ life ~ ' > now()' if life else '') ~ ')'
  ) -%}
{% endmacro %}
