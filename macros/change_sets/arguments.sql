{# The manifest is in the warehouse, and the change set must be next to it. #}
{% macro validate_location(model) %}
  {%- if model.config.get('location_root') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": a change_set does not accept location_root. Remove it. `warehouse` in the profile sets "
        ~ "where tables are, also in S3."
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro validate_change_set_options(model) %}
  {#- The options of dbt-spark for the files of a table. -#}
  {%- set names_of_spark = [
      'file_format', 'location_root', 'partition_by', 'clustered_by', 'buckets', 'options', 'tblproperties',
  ] -%}
  {%- set problems = versioned_collapsing.get_option_name_problems(
      model, ['on_changed_batch', 'compares_extracts', 'lake'], {}, names_of_spark
  ) -%}
  {%- for name in names_of_spark if name in (model.config.get('meta') or {}) -%}
    {%- do problems.append(
        "meta." ~ name ~ ": dbt-spark reads this option in the config only. Move it out of `meta`."
    ) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'change_set') -%}
{% endmacro %}

{# The problem that a staging model lacks columns that it must have. #}
{% macro get_missing_column_problems(events, columns, needed) %}
  {%- set missing = needed | reject('in', columns) | list -%}
  {%- do return([
      events ~ " lacks " ~ missing | join(', ') ~ ". It has " ~ columns | join(', ')
      ~ ". Correct the name, or select the column."
  ] if missing else []) -%}
{% endmacro %}

{# All problems with the arguments of a parsing macro, as one error. #}
{% macro validate_parsing(key, columns, required, encodings, ranges, more) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key, 'required': required}, ['required'])
      + versioned_collapsing.get_mapping_problems({'columns': columns, 'encodings': encodings, 'ranges': ranges}) -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a staging model') -%}
  {%- do problems.extend(versioned_collapsing.get_outside_problems(
      {'key': key, 'required': required, 'encodings': encodings, 'ranges': ranges}, columns
  )) -%}
  {%- for name, type in columns.items() -%}
    {%- do problems.extend(versioned_collapsing._get_column_problems(name, type)) -%}
  {%- endfor -%}
  {%- do problems.extend(versioned_collapsing._get_encoding_problems(columns, encodings)) -%}
  {%- for name, range in ranges.items()
      if range != 'clamp' and (range is string or range is not sequence or range | length != 2) -%}
    {%- do problems.append(
        "ranges: " ~ name ~ " has " ~ range ~ "; a range takes two values, the lowest and the highest, or 'clamp'."
    ) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems + more, 'a staging model') -%}
{% endmacro %}

{# Values of a key or version that become the same bound would be taken for the same row, or for one change. #}
{% macro get_clamp_problems(key, columns, version, ranges) %}
  {%- set problems = [] -%}
  {%- if ranges is not mapping or columns is not mapping -%}{%- do return(problems) -%}{%- endif -%}
  {%- for name, range in ranges.items() if range == 'clamp' and name in columns -%}
    {%- set kind = versioned_collapsing.get_kind(columns[name]) -%}
    {%- if name in key or name == version or kind not in ('date', 'timestamp') -%}
      {%- do problems.append(
          "ranges: " ~ name ~ " has 'clamp', which is for dates and timestamps that are neither key nor version."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The problems with arguments that must be lists of names. `arguments` has them by name. #}
{% macro get_list_problems(arguments, may_be_empty=[]) %}
  {%- set problems = [] -%}
  {%- for name, value in arguments.items() -%}
    {%- if value is string -%}
      {%- do problems.append(name ~ " is '" ~ value ~ "'; it takes a list: ['" ~ value ~ "'].") -%}
    {%- elif value is mapping or value is not sequence -%}
      {%- do problems.append(name ~ " is " ~ value ~ "; it takes a list of names.") -%}
    {%- elif not value and name not in may_be_empty -%}
      {%- do problems.append(name ~ " is empty; it takes at least one name.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro get_mapping_problems(arguments) %}
  {%- set problems = [] -%}
  {%- for name, value in arguments.items() if value is not mapping -%}
    {%- do problems.append(name ~ " is " ~ value ~ "; it takes a mapping whose keys are names of columns.") -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro _get_column_problems(name, type) %}
  {%- set problems = [] -%}
  {%- if name.startswith('_') -%}
    {%- do problems.append(
        "columns: " ~ name ~ " begins with an underscore, which is reserved for control columns. Rename it at its "
        ~ "source."
    ) -%}
  {%- elif not modules.re.match('[A-Za-z][A-Za-z0-9_]*$', name) -%}
    {%- do problems.append(
        "columns: '" ~ name ~ "' contains characters other than letters, digits and underscores. Rename it at its "
        ~ "source."
    ) -%}
  {%- endif -%}
  {%- if '<' in type | string -%}
    {%- do problems.append(
        "columns: " ~ name ~ " is " ~ type ~ ". Declare a nested value as string; it then holds the JSON."
    ) -%}
  {%- elif not versioned_collapsing.is_type(type) -%}
    {%- do problems.append(
        "columns: " ~ name ~ " is " ~ type ~ ", which is not an accepted type. It takes boolean, tinyint, smallint, "
        ~ "int, bigint, float, double, decimal of up to 38 digits, date, timestamp, timestamp_ntz, string or binary."
    ) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro _get_encoding_problems(columns, encodings) %}
  {%- set by_type = versioned_collapsing.get_encodings() -%}
  {%- set known = [] -%}
  {%- for type, names in by_type.items() -%}{%- do known.append(type ~ " takes '" ~ names | join("' or '") ~ "'") -%}
  {%- endfor -%}
  {%- set problems = [] -%}
  {%- for name, encoding in encodings.items() if name in columns
      and encoding not in by_type.get(versioned_collapsing.get_kind(columns[name]), []) -%}
    {%- do problems.append(
        "encodings: " ~ name ~ " is " ~ columns[name] ~ " and has the encoding '" ~ encoding ~ "'; "
        ~ known | join(', ') ~ "."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The problems with a column that orders the changes of a row. #}
{% macro get_version_column_problems(columns, version) %}
  {%- if version not in columns -%}
    {%- do return(["version is " ~ version ~ ", which is not in columns."]) -%}
  {%- endif -%}
  {%- set type = columns[version] -%}
  {%- set ordered = ('tinyint', 'smallint', 'int', 'bigint', 'date', 'timestamp') -%}
  {%- if versioned_collapsing.get_type_name(type) not in ordered -%}
    {%- do return([
        "version: " ~ version ~ " is " ~ type ~ ", but a version must be an integer, a date or a timestamp."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}

{# The Spark types of a staging model's columns, by name; none while dbt parses, or if the model is not built. In a unit
   test, dbt gives the test's rows a name of their own. The columns are then those of the model with the original name,
   which must be in the change set's schema. #}
{% macro read_column_types(events) %}
  {%- set types = {} -%}
  {%- if execute -%}
    {%- set built = api.Relation.create(
        schema=events.schema or model.schema,
        identifier=events.identifier | replace('__dbt__cte__', ''),
    ) -%}
    {%- for column in adapter.get_columns_in_relation(built) -%}
      {%- do types.update({column.name: column.dtype}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(types) -%}
{% endmacro %}

{# The row's own columns except the key. The names of all other columns begin with an underscore. #}
{% macro get_payload(columns, key) %}
  {%- set payload = [] -%}
  {%- for name in columns if name not in key and not name.startswith('_') -%}
    {%- do payload.append(name) -%}
  {%- endfor -%}
  {%- do return(payload) -%}
{% endmacro %}
