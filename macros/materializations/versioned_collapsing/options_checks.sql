{% macro validate_versioned_collapsing_options(model, options) %}
  {%- set problems = versioned_collapsing.get_option_name_problems(model, options.keys() | list,
      versioned_collapsing.get_meaningless_options())
      + versioned_collapsing.get_option_problems(options) -%}
  {%- if '`' in model.alias or '\\' in model.alias -%}
    {%- do problems.append(
        "alias is " ~ model.alias ~ ", but dbt cannot quote a name that contains a backtick or a backslash. Use "
        ~ "another."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems) -%}
{% endmacro %}

{# The problems with the names of a model's options: unknown names, options without a meaning here, and options that are
   given twice. `known` has the options of the materialization, `meaningless` maps other options to advice, and
   `of_the_adapter` has those that the adapter reads. `meta` belongs to the project, so a name there is a problem only
   if it is in `meaningless` or resembles one of `known`. #}
{% macro get_option_name_problems(model, known, meaningless, of_the_adapter=[]) %}
  {%- set problems = [] -%}
  {%- set all_known = known + of_the_adapter + versioned_collapsing.get_option_names_of_dbt() -%}
  {%- for name, value in model.config.items() if value is not none -%}
    {%- if name in meaningless -%}
      {%- do problems.append(name ~ " has no meaning for this materialization. " ~ meaningless[name]) -%}
    {%- elif name not in all_known -%}
      {%- set near = versioned_collapsing.get_near_name(name, all_known) -%}
      {%- set advice = "Did you mean " ~ near ~ "?" if near
          else "Remove it, or move it to `meta` if your own macros read it." -%}
      {%- do problems.append(name ~ ": there is no such option. " ~ advice) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in model.config.get('meta') or {} if name not in known -%}
    {%- if name in meaningless -%}
      {%- do problems.append("meta." ~ name ~ " has no meaning for this materialization. " ~ meaningless[name]) -%}
    {%- else -%}
      {%- set near = versioned_collapsing.get_near_name(name, known, 0.75) -%}
      {%- do problems.append(
          "meta." ~ name ~ ": there is no such option. Did you mean " ~ near ~ "? If it is your own, give it another "
          ~ "name."
      ) if near -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in versioned_collapsing.get_options_given_twice(model, known) -%}
    {%- do problems.append(
        name ~ " is " ~ model.config[name] ~ " in the config and " ~ model.config.meta[name] ~ " in `meta`. Give it in "
        ~ "one place."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The problems with the options, each naming the option, what was given and what to do. #}
{% macro get_option_problems(options) %}
  {%- set problems = versioned_collapsing.get_name_problems({
      'version': options.version, 'sign': options.sign, 'is_deleted': options.is_deleted
  }) -%}
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
  {%- do problems.extend(versioned_collapsing.get_choice_problems({
      'old_state': (options.old_state, ('lookup', 'stream')),
      'delete_version': (options.delete_version, ('respect', 'ignore')),
      'on_conflict': (options.on_conflict, ('warn', 'error')),
      'on_schema_change': (options.on_schema_change, ('fail', 'append_new_columns', 'ignore')),
      'publish': (options.publish, ('auto', 'atomic', 'journal')),
  })) -%}
  {%- for name, others in {'remember_deletes': 'true, false', 'change_feed': 'auto, true, false'}.items()
      if options[name] is not boolean and not (name == 'change_feed' and options[name] == 'auto')
      and versioned_collapsing.get_interval_sql(options[name]) is none -%}
    {%- do problems.append(
        name ~ " is '" ~ options[name] ~ "'; it takes " ~ others ~ ", or a length of time such as '30 days'."
    ) -%}
  {%- endfor -%}
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

{% macro _combine_problems(options) %}
  {%- set problems = versioned_collapsing.get_policy_problems(options.combine) -%}
  {%- for column in options.combine if column in options.unique_key + [options.version] -%}
    {%- do problems.append(
        "combine: " ~ column ~ " belongs to unique_key or is the version, which are never combined. Remove it."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# A change set of signed rows is written as it is, so options that depend on stored rows have no meaning. #}
{% macro _stream_problems(options) %}
  {%- set problems = [] -%}
  {%- if options.combine -%}
    {%- do problems.append(
        "combine needs the stored rows, which `old_state: stream` does not read. Combine the changes before the change "
        ~ "set is built, or set old_state: lookup."
    ) -%}
  {%- endif -%}
  {%- if options.delete_version == 'ignore' -%}
    {%- do problems.append(
        "delete_version: 'ignore' needs the stored rows, which `old_state: stream` does not read. Set old_state: "
        ~ "lookup."
    ) -%}
  {%- endif -%}
  {%- if options.publish == 'atomic' -%}
    {%- do problems.append(
        "publish: 'atomic' cannot complete an interrupted run with `old_state: stream`, because it compares with the "
        ~ "stored rows. Remove the option."
    ) -%}
  {%- endif -%}
  {%- if options.chunks is integer and options.chunks > 1 -%}
    {%- do problems.append(
        "chunks is " ~ options.chunks ~ ", but `old_state: stream` looks up no stored rows and needs no chunks. Remove "
        ~ "the option."
    ) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}
