{# What a test must know of the table that it is put on. The engine says it, whoever made the table; `sign`, `version`
   and `key` can be given where there is no such engine to ask, as for a view that passes the signs on.

   Returns `relation`; `sign`, `version` and `key`, as SQL; `columns`, all that are stored but the sign, with their
   types; `listed`, the same columns as SQL; `is_collapsing`. While dbt parses, and where there is no table, it is
   empty. #}
{% macro get_signed_table(model, sign=none, version=none, key=none) %}
  {%- set relation = versioned_collapsing.get_tested_relation(model) -%}
  {%- set found = versioned_collapsing.read_collapsing_engine(relation) if execute else none -%}
  {%- if found is not none and not found['is_collapsing'] and not sign -%}
    {%- do exceptions.raise_compiler_error(
        relation ~ " is " ~ found['engine'] ~ ", which has no sign. Put the test on a CollapsingMergeTree or "
        ~ "VersionedCollapsingMergeTree, or say which column is the sign: `sign`."
    ) -%}
  {%- endif -%}
  {%- set engine = found or {'sign': '_sign', 'version': '', 'sorting_key': '', 'is_collapsing': false} -%}
  {%- set sign = sign or engine['sign'] -%}
  {%- set columns = versioned_collapsing.read_stored_columns(relation, sign) if execute else {} -%}
  {%- set listed = [] -%}
  {%- for name in columns -%}
    {%- do listed.append(adapter.quote(name)) -%}
  {%- endfor -%}
  {%- do return({
      'relation': relation,
      'sign': sign,
      'version': version or engine['version'],
      'key': versioned_collapsing._listed(key) or engine['sorting_key'],
      'columns': columns,
      'listed': listed | join(', '),
      'is_collapsing': engine['is_collapsing'],
  }) -%}
{% endmacro %}


{# The relation behind the `model` of a generic test: with the config `where`, dbt passes a subquery instead. #}
{% macro get_tested_relation(model) %}
  {%- if model is not string -%}{%- do return(model) -%}{%- endif -%}
  {%- set name = '[`"]?([^`". ]+)[`"]?' -%}
  {%- set found = modules.re.match('\\s*\\(\\s*select \\* from ' ~ name ~ '\\.' ~ name ~ '\\s+where ', model) -%}
  {%- if found is none -%}
    {%- do exceptions.raise_compiler_error("No table is to be seen in " ~ model ~ ": the project has a get_where_subquery of its own. Leave out the config `where`.") -%}
  {%- endif -%}
  {%- do return(api.Relation.create(schema=found.group(1), identifier=found.group(2))) -%}
{% endmacro %}


{# Engine, sign, version and sorting key of a table, none if it is not there. #}
{% macro read_collapsing_engine(relation) %}
  {%- set query -%}
    with splitByString(', ', replaceAll(extract(engine_full, 'CollapsingMergeTree\\(([^)]*)\\)'), '`', '')) as arguments
    select
      engine,
      engine like '%CollapsingMergeTree' as is_collapsing,
      engine like '%VersionedCollapsingMergeTree' as is_versioned,
      arguments[if(is_versioned, -2, -1)] as sign,
      if(is_versioned, arguments[-1], '') as version,
      sorting_key
    from system.tables
    where database = '{{ relation.schema }}' and name = '{{ relation.identifier }}'
  {%- endset -%}
  {%- set rows = run_query(query).rows -%}
  {%- do return(rows[0] if rows else none) -%}
{% endmacro %}


{# Types of the columns that are stored, by name, without the sign. #}
{% macro read_stored_columns(relation, sign) %}
  {%- set query -%}
    select name, type
    from system.columns
    where database = '{{ relation.schema }}'
      and table = '{{ relation.identifier }}'
      and default_kind not in ('ALIAS', 'EPHEMERAL')
    order by position
  {%- endset -%}
  {%- set columns = {} -%}
  {%- for row in run_query(query).rows if row['name'] != sign -%}
    {%- do columns.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}


{# Names in a list as SQL; one name, or SQL, as it is. #}
{% macro _listed(names) %}
  {%- do return(names if names is none or names is string else names | join(', ')) -%}
{% endmacro %}
