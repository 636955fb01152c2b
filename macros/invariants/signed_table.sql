{# What a test must know of the table that it is put on. The engine says it, whoever made the table; `sign`, `version`
   and `key` can be given where there is no such engine to ask, as for a view that passes the signs on.

   Returns `relation`; `sign`, `version` and `key`, as SQL; `version_name`; `columns`, all that are stored but the sign,
   with their types; `listed`, the same columns as SQL; `names`, of all of them; `is_collapsing`. While dbt parses, and
   where there is no table, it is empty. #}
{% macro read_signed_table(model, sign=none, version=none, key=none) %}
  {%- set relation = versioned_collapsing.get_tested_relation(model) -%}
  {%- if execute -%}
    {%- do versioned_collapsing.validate_settings(relation, versioned_collapsing.read_profile_settings()) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_collapsing_engine(relation) if execute else none -%}
  {%- do versioned_collapsing._validate_has_sign(relation, found, sign) -%}
  {%- set engine = found or {'sign': '_sign', 'version': '', 'sorting_key': '', 'is_collapsing': false} -%}
  {%- set sign = versioned_collapsing._strip_quotes(sign or engine['sign']) -%}
  {%- set version = versioned_collapsing._strip_quotes(version or engine['version']) -%}
  {%- set columns = versioned_collapsing.read_stored_columns(relation, sign) if execute else {} -%}
  {%- do versioned_collapsing.validate_no_virtual_columns(relation, columns) -%}
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


{% macro _validate_has_sign(relation, engine, sign) %}
  {%- if engine is not none and not engine['is_collapsing'] and not sign -%}
    {%- do exceptions.raise_compiler_error(
        relation ~ " has the engine " ~ engine['engine'] ~ ", which has no sign. Use the test on a CollapsingMergeTree "
        ~ "or VersionedCollapsingMergeTree, or name the sign column in the argument `sign`."
    ) -%}
  {%- endif -%}
{% endmacro %}
