{# Reads every option once and raises one error for all that is wrong with them. #}
{% macro get_versioned_collapsing_options(config, model) %}
  {%- set unique_key = versioned_collapsing.as_list(config.get('unique_key')) -%}
  {%- set options = {
      'unique_key': unique_key,
      'version': config.get('version', '_version'),
      'sign': config.get('sign', '_sign'),
      'is_deleted': config.get('is_deleted', '_is_deleted'),
      'order_by': versioned_collapsing.as_list(config.get('order_by')) or unique_key,
      'primary_key': versioned_collapsing.as_list(config.get('primary_key')),
      'partition_by': versioned_collapsing.as_list(config.get('partition_by')),
      'ttl': config.get('ttl'),
      'settings': config.get('settings') or {},
      'old_state': config.get('old_state', 'lookup'),
      'delete_version': config.get('delete_version', 'respect'),
      'remember_deletes': config.get('remember_deletes', true),
      'combine': config.get('combine') or {},
      'on_conflict': config.get('on_conflict', 'warn'),
      'on_schema_change': versioned_collapsing._get_on_schema_change(config, model),
      'publish': config.get('publish', 'auto'),
      'chunks': config.get('chunks', 1),
  } -%}
  {%- set known = options.keys() | list + ['indexes', 'projections'] -%}
  {%- set problems = versioned_collapsing.validate_option_names(model, known, versioned_collapsing.get_meaningless_options())
      + versioned_collapsing.validate_versioned_collapsing_options(options) -%}
  {%- if '`' in model.alias or '\\' in model.alias -%}
    {%- do problems.append("alias: is " ~ model.alias ~ "; dbt cannot quote a name with a backtick or a backslash in it. Use another.") -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems) -%}
  {%- do return(options) -%}
{% endmacro %}


{# dbt itself gives every model `on_schema_change: ignore`; only what the project says counts here. #}
{% macro _get_on_schema_change(config, model) %}
  {%- do return(config.get('on_schema_change') if 'on_schema_change' in model.unrendered_config else 'fail') -%}
{% endmacro %}


{# Columns that a change set may have besides key, version and payload. They are not stored. #}
{% macro get_control_columns(options) %}
  {%- do return([options.is_deleted, '_unset', '_reset', '_batch', '_is_truncate'] + versioned_collapsing.get_carried_count_names()) -%}
{% endmacro %}


{# The problems with the options, each naming the option, what was given and what to do. #}
{% macro validate_versioned_collapsing_options(options) %}
  {%- set problems = [] -%}
  {%- for name in ('version', 'sign', 'is_deleted') if options[name] is not string or not options[name] -%}
    {%- do problems.append(name ~ ": is '" ~ options[name] ~ "'; it takes the name of a column.") -%}
  {%- endfor -%}
  {%- if not options.unique_key -%}
    {%- do problems.append("unique_key: missing. Name the column or columns that identify an entity.") -%}
  {%- endif -%}
  {%- set no_key = options.unique_key | select('in', [options.version] + versioned_collapsing.get_control_columns(options)) | list -%}
  {%- if no_key -%}
    {%- do problems.append("unique_key: contains " ~ no_key ~ ", which differs from change to change of one entity. Take it out.") -%}
  {%- endif -%}
  {%- for name in ('unique_key', 'order_by') if options[name] | unique(true) | list | length < options[name] | length -%}
    {%- do problems.append(name ~ ": is " ~ options[name] ~ ", which names a column twice. Take one of the two out.") -%}
  {%- endfor -%}
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
  {%- set choices = {
      'old_state': ('lookup', 'stream'),
      'delete_version': ('respect', 'ignore'),
      'on_conflict': ('warn', 'error'),
      'on_schema_change': ('fail', 'append_new_columns', 'ignore'),
      'publish': ('auto', 'direct', 'journal'),
  } -%}
  {%- for name, allowed in choices.items() if options[name] not in allowed -%}
    {%- do problems.append(name ~ ": is '" ~ options[name] ~ "'; it takes '" ~ allowed[:-1] | join("', '") ~ "' or '" ~ allowed[-1] ~ "'.") -%}
  {%- endfor -%}
  {%- if options.remember_deletes is not boolean and versioned_collapsing.get_interval_sql(options.remember_deletes) is none -%}
    {%- do problems.append(
        "remember_deletes: is '" ~ options.remember_deletes ~ "'; it takes true, false, or how long to remember, as in '30 days'."
    ) -%}
  {%- endif -%}
  {%- if options.chunks is not integer or options.chunks < 1 -%}
    {%- do problems.append("chunks: is " ~ options.chunks ~ "; it takes the number of chunks to apply in, 1 or more.") -%}
  {%- endif -%}
  {%- for name in ('settings', 'combine') if options[name] is not mapping -%}
    {%- do problems.append(name ~ ": is " ~ options[name] ~ "; it takes a mapping of " ~ ('table settings to values.' if name == 'settings' else 'columns to policies.')) -%}
  {%- endfor -%}
  {%- if options.combine is mapping -%}
    {%- do problems.extend(versioned_collapsing._combine_problems(options)) -%}
  {%- endif -%}
  {%- set special = [options.version, options.sign, options.is_deleted] -%}
  {%- if special | map('string') | unique(true) | list | length < special | length -%}
    {%- do problems.append("version, sign and is_deleted: are " ~ special ~ "; they must be three columns.") -%}
  {%- endif -%}
  {%- if options.old_state == 'stream' -%}
    {%- do problems.extend(versioned_collapsing._stream_problems(options)) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _combine_problems(options) %}
  {%- set problems = [] -%}
  {%- set policies = ('latest', 'greatest', 'least', 'coalesce', 'first') -%}
  {%- for column, policy in options.combine.items() -%}
    {%- if policy not in policies -%}
      {%- do problems.append("combine: " ~ column ~ " has '" ~ policy ~ "'; a column takes '" ~ policies | join("', '") ~ "'.") -%}
    {%- endif -%}
    {%- if column in options.unique_key + [options.version] -%}
      {%- do problems.append("combine: " ~ column ~ " belongs to the key or is the version, which are never combined. Take it out.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# A change set of signed rows is written as it is: what depends on stored rows has no meaning there. #}
{% macro _stream_problems(options) %}
  {%- set problems = [] -%}
  {%- if options.combine -%}
    {%- do problems.append("combine: needs the stored rows, which `old_state: stream` does not read. Combine before the change set is made, or set old_state: lookup.") -%}
  {%- endif -%}
  {%- if options.delete_version == 'ignore' -%}
    {%- do problems.append("delete_version: 'ignore' needs the stored rows, which `old_state: stream` does not read. Set old_state: lookup.") -%}
  {%- endif -%}
  {%- if options.publish == 'direct' -%}
    {%- do problems.append("publish: 'direct' cannot complete a run with `old_state: stream`. Leave it out.") -%}
  {%- endif -%}
  {%- if options.chunks is integer and options.chunks > 1 -%}
    {%- do problems.append("chunks: is " ~ options.chunks ~ "; with `old_state: stream` nothing is looked up, and nothing to be chunked. Leave it out.") -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}
