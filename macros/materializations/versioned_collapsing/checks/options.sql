{# The problems with the options, each naming the option, what was given and what to do. #}
{% macro get_option_problems(options) %}
  {%- set problems = [] -%}
  {%- for name in ('version', 'sign', 'is_deleted') if options[name] is not string or not options[name] -%}
    {%- do problems.append(name ~ " is '" ~ options[name] ~ "'; it takes the name of a column.") -%}
  {%- endfor -%}
  {%- if not options.unique_key | select | list -%}
    {%- do problems.append("unique_key is missing. Name the column or columns that identify an entity.") -%}
  {%- endif -%}
  {%- set no_key = options.unique_key | select('in',
      [options.version] + versioned_collapsing.get_control_columns(options)) | list -%}
  {%- if no_key -%}
    {%- do problems.append(
        "unique_key contains " ~ no_key | join(', ') ~ ", but values of the key must be the same in all changes of an "
        ~ "entity. Remove " ~ no_key | join(', ') ~ " from it."
    ) -%}
  {%- endif -%}
  {%- for name in ('unique_key', 'order_by')
      if options[name] | unique(case_sensitive=true) | list | length < options[name] | length -%}
    {%- do problems.append(
        name ~ " is " ~ options[name] | join(', ') ~ ", which names a column twice. Remove one of the two."
    ) -%}
  {%- endfor -%}
  {%- if options.sign in options.order_by -%}
    {%- do problems.append(
        "order_by contains the sign column " ~ options.sign ~ ", so state and cancel rows would never pair. Remove it."
    ) -%}
  {%- endif -%}
  {%- set choices = {
      'old_state': ('lookup', 'stream'),
      'delete_version': ('respect', 'ignore'),
      'on_conflict': ('warn', 'error'),
      'on_schema_change': ('fail', 'append_new_columns', 'ignore'),
      'publish': ('auto', 'atomic', 'journal'),
  } -%}
  {%- for name, allowed in choices.items() if options[name] not in allowed -%}
    {%- do problems.append(
        name ~ " is '" ~ options[name] ~ "'; it takes '" ~ allowed[:-1] | join("', '") ~ "' or '" ~ allowed[-1] ~ "'."
    ) -%}
  {%- endfor -%}
  {%- if options.remember_deletes is not boolean
      and versioned_collapsing.get_interval_sql(options.remember_deletes) is none -%}
    {%- do problems.append(
        "remember_deletes is '" ~ options.remember_deletes ~ "'; it takes true, false, or a length of time such as "
        ~ "'30 days'."
    ) -%}
  {%- endif -%}
  {%- if options.change_feed is not boolean and options.change_feed != 'auto'
      and versioned_collapsing.get_interval_sql(options.change_feed) is none -%}
    {%- do problems.append(
        "change_feed is '" ~ options.change_feed ~ "'; it takes auto, true, false, or a length of time such as "
        ~ "'30 days'."
    ) -%}
  {%- endif -%}
  {%- if options.chunks is not integer or options.chunks < 1 -%}
    {%- do problems.append(
        "chunks is " ~ tojson(options.chunks) ~ "; it takes the number of chunks, 1 or more, without quotes."
    ) -%}
  {%- endif -%}
  {%- for name in ('settings', 'combine') if options[name] is not mapping -%}
    {%- do problems.append(
        name ~ " is " ~ options[name] ~ "; it takes a mapping of " ~ ('table settings to values.' if name == 'settings'
        else 'columns to policies.')
    ) -%}
  {%- endfor -%}
  {%- for name, keys in {'indexes': ['definition'], 'projections': ['query', 'index']}.items()
      if not versioned_collapsing._is_list_of_definitions(options[name], keys) -%}
    {%- do problems.append(
        name ~ " is " ~ tojson(options[name]) ~ "; it takes a list of mappings, each with name and "
        ~ keys | join(' or ') ~ "."
    ) -%}
  {%- endfor -%}
  {%- if options.combine is mapping -%}
    {%- do problems.extend(versioned_collapsing._combine_problems(options)) -%}
  {%- endif -%}
  {%- set special = [options.version, options.sign, options.is_deleted] -%}
  {%- if special | map('string') | unique(case_sensitive=true) | list | length < special | length -%}
    {%- do problems.append(
        "version, sign and is_deleted are " ~ special | join(', ') ~ "; they must be three different columns."
    ) -%}
  {%- endif -%}
  {%- if options.old_state == 'stream' -%}
    {%- do problems.extend(versioned_collapsing._stream_problems(options)) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _is_list_of_definitions(value, keys) %}
  {%- if value is not iterable or value is string or value is mapping -%}{%- do return(false) -%}{%- endif -%}
  {%- for entry in value -%}
    {%- if entry is not mapping or not entry.get('name') or not keys | select('in', entry) | list -%}
      {%- do return(false) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}


{# The advice to add to an error if a name is a text of several names, such as 'order_id, line'. #}
{% macro get_list_advice(option, names) %}
  {%- for name in names if name is string and ',' in name -%}
    {%- do return(" To name several columns, write a list: " ~ option ~ "=['a', 'b'].") -%}
  {%- endfor -%}
  {%- do return('') -%}
{% endmacro %}
