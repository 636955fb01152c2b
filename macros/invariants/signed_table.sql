{# What a test must know of the table that it is put on. The engine says it, whoever made the table; `sign`, `version`
   and `key` can be given where there is no such engine to ask, as for a view that passes the signs on.

   Returns `relation`; `sign`, `version` and `key`, as SQL; `version_name`; `columns`, all that are stored but the sign,
   with their types; `listed`, the same columns as SQL; `names`, of all of them; `is_collapsing`. While dbt parses, and
   where there is no table, it is empty. #}
{% macro get_signed_table(model, sign=none, version=none, key=none) %}
  {%- set relation = versioned_collapsing.get_tested_relation(model) -%}
  {%- if execute -%}
    {%- do versioned_collapsing.validate_settings(relation, versioned_collapsing.read_profile_settings()) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_collapsing_engine(relation) if execute else none -%}
  {%- if found is not none and not found['is_collapsing'] and not sign -%}
    {%- do exceptions.raise_compiler_error(
        relation ~ " is " ~ found['engine'] ~ ", which has no sign. Put the test on a CollapsingMergeTree or "
        ~ "VersionedCollapsingMergeTree, or say which column is the sign: `sign`."
    ) -%}
  {%- endif -%}
  {%- set engine = found or {'sign': '_sign', 'version': '', 'sorting_key': '', 'is_collapsing': false} -%}
  {%- set sign = versioned_collapsing._unquoted(sign or engine['sign']) -%}
  {%- set version = versioned_collapsing._unquoted(version or engine['version']) -%}
  {%- set columns = versioned_collapsing.read_stored_columns(relation, sign) if execute else {} -%}
  {%- set listed = [] -%}
  {%- for name in columns -%}
    {%- do listed.append(versioned_collapsing.quote_name(name)) -%}
  {%- endfor -%}
  {%- do return({
      'relation': relation,
      'sign': versioned_collapsing.quote_name(sign),
      'version': versioned_collapsing.quote_name(version) if version else '',
      'version_name': version,
      'key': versioned_collapsing._get_key_sql(key, columns) or engine['sorting_key'],
      'columns': columns,
      'listed': listed | join(', '),
      'names': columns | list + [sign],
      'is_collapsing': engine['is_collapsing'],
  }) -%}
{% endmacro %}


{# The relation behind the `model` of a generic test: with the config `where`, dbt passes a subquery instead. #}
{% macro get_tested_relation(model) %}
  {%- if model is not string -%}{%- do return(model) -%}{%- endif -%}
  {%- set name = '(`[^`]+`|"[^"]+"|[^`". ]+)' -%}
  {%- set found = modules.re.match('\\s*\\(\\s*select \\* from ' ~ name ~ '\\.' ~ name ~ '\\s+where ', model) -%}
  {%- if found is none -%}
    {%- do exceptions.raise_compiler_error("No table is to be seen in " ~ model ~ ": the project has a get_where_subquery of its own. Leave out the config `where`.") -%}
  {%- endif -%}
  {%- do return(api.Relation.create(schema=versioned_collapsing._unquoted(found.group(1)), identifier=versioned_collapsing._unquoted(found.group(2)))) -%}
{% endmacro %}


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
  {%- set arguments = versioned_collapsing._get_engine_arguments(rows[0]['engine_full']) if engine.endswith('CollapsingMergeTree') else [] -%}
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
  {%- set between = modules.re.match('\\w+\\(((?:' ~ quoted ~ '|' ~ text ~ '|[^)`\'])*)\\)', engine_full) -%}
  {%- for part in modules.re.findall(quoted ~ '|' ~ text ~ '|\\w+', between.group(1) if between else '') if not part.startswith("'") -%}
    {%- do names.append(versioned_collapsing._unquoted(part)) -%}
  {%- endfor -%}
  {%- do return(names) -%}
{% endmacro %}


{# Types of the columns that are stored, by name, without the sign. #}
{% macro read_stored_columns(relation, sign) %}
  {%- set query -%}
    select name, type
    from system.columns
    where database = {{ versioned_collapsing.quote_literal(relation.schema) }}
      and table = {{ versioned_collapsing.quote_literal(relation.identifier) }}
      and default_kind not in ('ALIAS', 'EPHEMERAL')
    order by position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set columns = {} -%}
  {%- for row in run_query(query).rows if row['name'] != sign -%}
    {%- do columns.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}


{# A key as SQL: the names of columns quoted, what else is given as it is. #}
{% macro _get_key_sql(key, columns) %}
  {%- set parts = [] -%}
  {%- for name in ([] if key is none else [key] if key is string else key) -%}
    {%- do parts.append(versioned_collapsing.quote_name(name) if name in columns else name) -%}
  {%- endfor -%}
  {%- do return(parts | join(', ')) -%}
{% endmacro %}


{# A name without the quotes around it. #}
{% macro _unquoted(name) %}
  {%- if not name or name | length < 3 or name[0] not in '`"' or name[-1] != name[0] -%}{%- do return(name) -%}{%- endif -%}
  {%- do return(modules.re.sub('\\\\(.)', '\\1', name[1:-1])) -%}
{% endmacro %}
