{% macro validate_one_aggregate(aggregate, projection) %}
  {%- if (aggregate is none) == (projection is none) -%}
    {%- do exceptions.raise_compiler_error(
        "aggregate_agrees: set either `aggregate`, a relation, or `projection`, the name of a projection."
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro validate_has_version(table) %}
  {%- if execute and table.is_collapsing and not table.version -%}
    {%- do exceptions.raise_compiler_error(
        "The engine of " ~ table.relation ~ " has no version. Name the version column in the argument `version`."
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro validate_waiting_limits(rows, share) %}
  {%- if rows is none and share is none -%}
    {%- do exceptions.raise_compiler_error(
        "rows_waiting_to_collapse_below: no limit is set. Set `rows`, or `share` of the stored rows, or both."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The tombstones of a versioned_collapsing table, for `from`, without expired ones. None if the table has none of its
   own, or if their key is not that of the test. #}
{% macro read_tested_tombstones(table, unique_key) %}
  {%- if not execute -%}{%- do return(none) -%}{%- endif -%}
  {%- set relation = versioned_collapsing.get_tombstones_relation(table.relation) -%}
  {%- set tables = versioned_collapsing.read_tables([table.relation, relation]) -%}
  {%- if table.relation.identifier not in tables or relation.identifier not in tables -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set found = tables[relation.identifier] -%}
  {%- set key = [] -%}
  {%- for name in versioned_collapsing.split_top_level(found.sorting_key) -%}
    {%- do key.append(versioned_collapsing._strip_quotes(name)) -%}
  {%- endfor -%}
  {%- set own = versioned_collapsing.get_tombstones_comment(tables[table.relation.identifier].uuid) -%}
  {%- if found.comment not in ('', own) or key != versioned_collapsing.as_list(unique_key) -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set life = modules.re.findall('_remembered_at \\+ (toInterval\\w+\\(\\d+\\))', found.engine_full) | first -%}
  {%- do return(
      '(select * from ' ~ relation ~ (' where _remembered_at + ' ~ life ~ ' > now()' if life else '') ~ ')'
  ) -%}
{% endmacro %}

{# A name without its quotes. #}
{% macro _strip_quotes(name) %}
  {%- if not name or name | length < 3 or name[0] not in '`"' or name[-1] != name[0] -%}
    {%- do return(name) -%}
  {%- endif -%}
  {%- do return(modules.re.sub('\\\\(.)', '\\1', name[1:-1])) -%}
{% endmacro %}

{# The failing rows of a generic test. The caller's own columns begin with `_dbt_`. They come after the user's columns,
   and the prefix is removed from those in `names`, unless the table or `taken` has a column of that name. The settings
   are in an inner query, because dbt may append a limit to this one. #}
{% macro get_failing_rows_sql(names, taken) %}
{%- set own = [] -%}
{%- set shown = [] -%}
{%- for name in names -%}
  {%- set own_name = versioned_collapsing.quote_name('_dbt_' ~ name) -%}
  {%- do own.append(own_name) -%}
  {%- do shown.append(own_name if name in taken else own_name ~ ' as ' ~ versioned_collapsing.quote_name(name)) -%}
{%- endfor -%}
select
  * except ({{ own | join(', ') }}),
  {{ shown | join(',\n  ') }}
from (
  {{ caller() }}
  {{ versioned_collapsing.get_test_settings_sql() }}
) as _dbt_failing
{%- endmacro %}

{# Tests read the stored rows, whatever a profile says about FINAL, and group by columns of any type. #}
{% macro get_test_settings_sql() %}
  {%- do return(versioned_collapsing.get_settings_sql(none, {
      'allow_suspicious_types_in_group_by': 1, 'allow_suspicious_types_in_order_by': 1,
  })) -%}
{% endmacro %}

{# The IDs of the last partitions, in the order of their values: numbers as numbers, dates as dates. They are looked up
   first, because ClickHouse skips whole parts only for literals. None if they are not asked for; empty if the table has
   no partitions, and then the whole table counts. #}
{% macro read_recent_partitions(relation, recent_partitions) %}
  {%- if not recent_partitions -%}{%- do return(none) -%}{%- endif -%}
  {%- set found = versioned_collapsing.read_tables([relation]) if execute else {} -%}
  {%- if not found.get(relation.identifier, {}).get('partition_key') -%}{%- do return([]) -%}{%- endif -%}
  {%- set query -%}
    select _partition_id
    from {{ relation }}
    group by _partition_id, _partition_value
    order by _partition_value desc
    limit {{ recent_partitions }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows | map(attribute='_partition_id') | list or ['']) -%}
{% endmacro %}

{# The condition that limits a test to part of the table: the config `where`, one in `sample` keys, by hash, and the
   last partitions. The rows of a pair agree in key, partition and everything that `where` can use except the sign. So
   if a table conforms, each part of it does. #}
{% macro get_scope_sql(table, where, sample, partitions) %}
  {%- set conditions = ['(' ~ where ~ ')'] if where else [] -%}
  {%- if sample -%}
    {%- do conditions.append(versioned_collapsing.get_sample_sql(table.key, sample)) -%}
  {%- endif -%}
  {%- if partitions is not none -%}
    {%- do conditions.append(versioned_collapsing.get_partitions_sql(partitions)) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ') or 'true') -%}
{% endmacro %}

{# In a tuple, because the hash of a null is null. #}
{% macro get_sample_sql(key, sample) -%}
  cityHash64(tuple({{ key }})) % {{ sample }} = 0
{%- endmacro %}

{% macro get_partitions_sql(partitions) %}
  {%- set ids = versioned_collapsing.quote_literals(partitions) -%}
  {%- do return('_partition_id in (' ~ ids ~ ')' if partitions else 'true') -%}
{% endmacro %}

{# The condition that limits both sides of a comparison to the same keys: `key` has the columns of the other side,
   `expressions` those of the table. #}
{% macro get_keys_in_scope_sql(table, key, expressions, sample, partitions) %}
  {%- set conditions = [versioned_collapsing.get_sample_sql(key, sample)] if sample else [] -%}
  {%- if partitions is not none and key -%}
    {%- do conditions.append(
        "tuple(" ~ key ~ ") in (select tuple(" ~ expressions ~ ") from " ~ table.relation ~ " where "
        ~ versioned_collapsing.get_partitions_sql(partitions) ~ ")"
    ) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ') or 'true') -%}
{% endmacro %}

{# What a test needs to know about its table. The engine tells it, whoever made the table; `sign`, `version` and `key`
   can be given if there is no such engine, as for a view that passes the signs on.

   Returns `relation`; `sign`, `version` and `key`, as SQL; `version_name`; `columns`, all stored columns except the
   sign, with their types; `listed`, the same columns as SQL; `names`, those of all columns; `is_collapsing`. While dbt
   parses, and if the table does not exist, there are no columns. #}
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
  {%- do return({
      'relation': relation,
      'sign': versioned_collapsing.quote_name(sign),
      'version': versioned_collapsing.quote_name(version) if version else '',
      'version_name': version,
      'key': versioned_collapsing._get_key_sql(key, columns) or engine['sorting_key'],
      'columns': columns,
      'listed': versioned_collapsing.quote_names(columns),
      'names': columns | list + [sign],
      'is_collapsing': engine['is_collapsing'],
  }) -%}
{% endmacro %}

{# The relation behind the `model` of a generic test: with the config `where`, dbt passes a subquery instead. #}
{% macro get_tested_relation(model) %}
  {%- if model is not string -%}{%- do return(model) -%}{%- endif -%}
  {%- set name = '(`[^`]+`|"[^"]+"|[^`". ]+)' -%}
  {%- set found = modules.re.fullmatch(
      '\\s*\\(\\s*select \\* from ' ~ name ~ '\\.' ~ name ~ '\\s+where .*', model, modules.re.S
  ) -%}
  {%- do versioned_collapsing._validate_table_is_seen(model, found) -%}
  {%- do return(api.Relation.create(
      schema=versioned_collapsing._strip_quotes(found[1]),
      identifier=versioned_collapsing._strip_quotes(found[2]),
  )) -%}
{% endmacro %}

{% macro _validate_table_is_seen(model, found) %}
  {%- if found is none -%}
    {%- do exceptions.raise_compiler_error(
        "The tested table cannot be read from " ~ model ~ ", because the project overrides get_where_subquery. Remove "
        ~ "the config `where`."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Engine, sign, version and sorting key of a table; none if it does not exist. #}
{% macro read_collapsing_engine(relation) %}
  {%- set found = versioned_collapsing.read_tables([relation]).get(relation.identifier) -%}
  {%- if not found -%}{%- do return(none) -%}{%- endif -%}
  {%- set engine = found.engine -%}
  {%- set is_versioned = engine.endswith('VersionedCollapsingMergeTree') -%}
  {%- set arguments = versioned_collapsing.get_engine_arguments(found.engine_full)
      if engine.endswith('CollapsingMergeTree') else [] -%}
  {%- do return({
      'engine': engine,
      'is_collapsing': arguments != [],
      'sign': arguments[-2 if is_versioned else -1] if arguments else '',
      'version': arguments[-1] if is_versioned else '',
      'sorting_key': found.sorting_key,
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

{# A key as SQL: column names are quoted, anything else stays as given. #}
{% macro _get_key_sql(key, columns) %}
  {%- set parts = [] -%}
  {%- for name in versioned_collapsing.as_list(key) -%}
    {%- do parts.append(versioned_collapsing.quote_name(name) if name in columns else name) -%}
  {%- endfor -%}
  {%- do return(parts | join(', ')) -%}
{% endmacro %}

{# How many rows of a group merges will remove: those beyond the sum of the signs. #}
{% macro get_waiting_rows_count_sql(sign) %}
  {%- do return('toInt64(count()) - abs(sum(' ~ sign ~ '))') -%}
{% endmacro %}
