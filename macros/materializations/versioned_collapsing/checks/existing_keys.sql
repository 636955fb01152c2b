{# For each option, what the model wants and what the table has. Both are in ClickHouse's own spelling: it stores
   `x::Date` as `CAST(x, 'Date')`. #}
{% macro read_keys(found, remembered, options, columns) %}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set texts = {
      'version': [adapter.quote(options.version)],
      'sign and version': [
          get_quoted_csv([options.sign, options.version]),
          versioned_collapsing._get_sign_and_version(found.engine_full),
      ],
      'order_by': [versioned_collapsing.get_expressions_sql(options.order_by, columns), found.sorting_key],
      'partition_by': [
          versioned_collapsing.get_expressions_sql(options.partition_by, columns),
          '' if found.partition_key == 'tuple()' else found.partition_key,
      ],
      'unique_key': [key, remembered.sorting_key if remembered else key],
  } -%}
  {%- set formatted = versioned_collapsing.read_formatted_expressions(texts.values() | sum(start=[])) -%}
  {%- set version = formatted[0] -%}
  {%- set pairs = {} -%}
  {%- for option in texts if option != 'version' -%}
    {%- set wanted, found_key = formatted[2 * loop.index - 1], formatted[2 * loop.index] -%}
    {%- do pairs.update({option: {
        'wanted': versioned_collapsing._without_version(wanted, version) if option == 'order_by' else wanted,
        'found': versioned_collapsing._without_version(found_key, version) if option == 'order_by' else found_key,
    }}) -%}
  {%- endfor -%}
  {%- do return(pairs) -%}
{% endmacro %}


{# Sign and version are the last two arguments of the engine. A replicated engine has other arguments before them. #}
{% macro _get_sign_and_version(engine_full) %}
  {%- set argument = '`(?:[^`\\\\]|\\\\.)*`|\'(?:[^\'\\\\]|\\\\.)*\'|[^()`\']' -%}
  {%- set engine = modules.re.findall('VersionedCollapsingMergeTree\\((?:' ~ argument ~ ')*\\)', engine_full) -%}
  {%- do return(versioned_collapsing.get_type_arguments(engine[0])[-2:] | join(', ')) -%}
{% endmacro %}


{# Removes the version, which the engine appends to a sorting key that does not contain it. #}
{% macro _without_version(sorting_key, version) %}
  {%- set suffix = ', ' ~ version -%}
  {%- set key = sorting_key[: -(suffix | length)] if sorting_key.endswith(suffix) else sorting_key -%}
  {%- do return(versioned_collapsing.strip_parentheses(key)) -%}
{% endmacro %}
