{# What the options say and what the table has, by option, in ClickHouse's own spelling: it keeps `x::Date` as
   `CAST(x, 'Date')`. #}
{% macro read_keys(found, options, columns) %}
  {%- set argument = '`(?:[^`\\\\]|\\\\.)*`|\'(?:[^\'\\\\]|\\\\.)*\'|[^()`\']' -%}
  {%- set engine = modules.re.search('VersionedCollapsingMergeTree\\((' ~ argument ~ ')*\\)', found['engine_full']) -%}
  {%- set sign_and_version = versioned_collapsing.get_type_arguments(engine.group(0))[-2:] -%}
  {%- set texts = [
      get_quoted_csv([options.sign, options.version]),
      sign_and_version | join(', '),
      versioned_collapsing.get_expressions_sql(options.order_by, columns),
      found['sorting_key'],
      versioned_collapsing.get_expressions_sql(options.partition_by, columns),
      found['partition_key'],
      get_quoted_csv(options.unique_key),
      found['remembered_key'] or get_quoted_csv(options.unique_key),
      adapter.quote(options.version),
  ] -%}
  {%- set formatted = versioned_collapsing.read_formatted_expressions(texts) -%}
  {%- set version = formatted[8] -%}
  {%- do return({
      'sign and version': (formatted[0], formatted[1]),
      'order_by': (
          versioned_collapsing._without_version(formatted[2], version),
          versioned_collapsing._without_version(formatted[3], version),
      ),
      'partition_by': (formatted[4], formatted[5]),
      'unique_key': (formatted[6], formatted[7]),
  }) -%}
{% endmacro %}


{# The engine appends the version to the sorting key, unless it is there. #}
{% macro _without_version(sorting_key, version) %}
  {%- set suffix = ', ' ~ version -%}
  {%- set key = sorting_key[: -(suffix | length)] if sorting_key.endswith(suffix) else sorting_key -%}
  {%- do return(versioned_collapsing.strip_parentheses(key)) -%}
{% endmacro %}
