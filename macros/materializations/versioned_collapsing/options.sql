{# Reads every option once and raises one error for all that is wrong with them. #}
{% macro get_versioned_collapsing_options(config, model) %}
  {%- set unique_key = _as_list(config.get('unique_key')) -%}
  {%- set options = {
      'unique_key': unique_key,
      'version': config.get('version', '_version'),
      'sign': config.get('sign', '_sign'),
      'is_deleted': config.get('is_deleted', '_is_deleted'),
      'duplicates': '_duplicates',
      'conflicts': '_conflicts',
      'order_by': _as_list(config.get('order_by')) or unique_key,
      'primary_key': _as_list(config.get('primary_key')),
      'partition_by': _as_list(config.get('partition_by')),
      'ttl': config.get('ttl'),
      'settings': config.get('settings') or {},
      'on_conflict': config.get('on_conflict', 'warn'),
  } -%}
  {%- do raise_problems(model.unique_id, validate_versioned_collapsing_options(options)) -%}
  {%- do return(options) -%}
{% endmacro %}


{# The problems with the options, each naming the option, what was given and what to do. #}
{% macro validate_versioned_collapsing_options(options) %}
  {%- set problems = [] -%}
  {%- if not options.unique_key -%}
    {%- do problems.append("unique_key: missing. Name the column or columns that identify an entity.") -%}
  {%- endif -%}
  {%- set outside = options.unique_key | reject('in', options.order_by) | list -%}
  {%- if outside -%}
    {%- do problems.append(
        "order_by: " ~ options.order_by ~ " lacks " ~ outside ~ " of the unique_key. Rows pair by sorting key and "
        ~ "version, so two entities would cancel each other: add every unique_key column to order_by."
    ) -%}
  {%- endif -%}
  {%- if options.sign in options.order_by -%}
    {%- do problems.append("order_by: contains the sign column " ~ options.sign ~ ", so that state and cancel rows never pair. Take it out.") -%}
  {%- endif -%}
  {%- if options.on_conflict not in ('warn', 'error') -%}
    {%- do problems.append("on_conflict: is '" ~ options.on_conflict ~ "'; it takes 'warn' or 'error'.") -%}
  {%- endif -%}
  {%- if options.settings is not mapping -%}
    {%- do problems.append("settings: is " ~ options.settings ~ "; it takes a mapping of table settings to values.") -%}
  {%- endif -%}
  {%- set special = [options.version, options.sign, options.is_deleted] -%}
  {%- if special | unique | list | length < special | length -%}
    {%- do problems.append("version, sign and is_deleted: are " ~ special ~ "; they must be three columns.") -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{# Raises one compiler error that lists all problems; does nothing when there are none. #}
{% macro raise_problems(unique_id, problems) %}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(
        unique_id ~ " cannot be built as versioned_collapsing:\n  - " ~ problems | join("\n  - ")
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro _as_list(value) %}
  {%- do return([] if value is none else [value] if value is string or value is number else value | list) -%}
{% endmacro %}
