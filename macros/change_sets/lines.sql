{# Every line of a source, with its file, and with the start of the block of the file that Spark reads at once. Lines
   get no numbers here, because Spark does not filter rows before it numbers them, and would read every batch. Before
   the first batch has landed, there is no column `batch`, and perhaps no folder. Then the view has no rows and says so,
   and must be made again.

   A row of Parquet becomes a line of JSON without its nulls, so that a column that a file lacks is as one that is null.
   The columns are those of all files. Spark otherwise takes them from one file, and leaves out those of the others. #}
{% macro get_lines_sql(source, has_landed) -%}
  {%- if not has_landed -%}
  select
    cast(null as string) as _raw_line,
    cast(null as bigint) as _batch,
    cast(null as string) as _file,
    cast(null as bigint) as _block_start
  from values ({{ versioned_collapsing.get_empty_landing_mark(source.location) }}) as nothing (note)
  where false
  {%- else -%}
  {%- set is_parquet = versioned_collapsing.is_parquet(source) -%}
  select
    {{ versioned_collapsing._get_parquet_line_sql() if is_parquet else 'value' }} as _raw_line,
    cast(batch as bigint) as _batch,
    {{ versioned_collapsing._get_file_sql() }} as _file,
    _metadata.file_block_start as _block_start
  from {{ source }}{{ " with ('mergeSchema' = 'true')" if is_parquet }}
  {%- endif -%}
{%- endmacro %}

{# The text that marks a view as made before the first batch landed. #}
{% macro get_empty_landing_mark(location) %}
  {%- do return(versioned_collapsing.quote_literal('no batch had landed in ' ~ location)) -%}
{% endmacro %}

{% macro is_parquet(source) %}
  {%- do return(source.file_format == 'parquet') -%}
{% endmacro %}

{% macro _get_parquet_line_sql() -%}
  to_json(struct(* except (batch)), map(
    'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'
  ))
{%- endmacro %}

{# The place of a file: its last two folders and its name. Spark has them URL-encoded. #}
{% macro _get_file_sql() -%}
  {%- set file = "substring_index(_metadata.file_path, '/', -3)" -%}
  if(contains(_metadata.file_path, '%'), url_decode(replace({{ file }}, '+', '%2B')), {{ file }})
{%- endmacro %}

{# Whether lines of a source can be read. Unless dbt builds models, the answer is yes, so that no engine is needed. #}
{% macro read_has_landed(source) %}
  {%- set is_known = not source.location or not versioned_collapsing.is_building() -%}
  {%- do return(is_known or versioned_collapsing.read_location(source.location) | length > 0) -%}
{% endmacro %}

{% macro is_building() %}
  {%- do return(execute and flags.WHICH in ('run', 'build', 'retry')) -%}
{% endmacro %}

{# The condition by which lines are counted under each name; none if the columns cannot tell. The text of a line is read
   only if nothing else is known about it. This needs an `if`: an expression that occurs twice in an `and` is computed
   by Spark for every line. #}
{% macro get_line_conditions(columns) %}
  {%- set has_reasons = '_reason' in columns and '_version' in columns -%}
  {%- set is_message = '_ignored is not null' if '_ignored' in columns else 'false' -%}
  {%- set is_event = versioned_collapsing.get_is_event_sql(columns) -%}
  {%- set is_blank = '_is_blank' if '_is_blank' in columns else 'if(_reason is null and not ' ~ is_event ~ ' and not '
      ~ is_message ~ ', ' ~ versioned_collapsing.get_says_nothing_sql('_raw_line') ~ ', false)' -%}
  {%- do return({
      'blank': is_blank if has_reasons and '_raw_line' in columns else none,
      'quarantined': '_reason is not null' if has_reasons else none,
      'ignored': '_reason is null and ' ~ is_message if has_reasons else none,
      'events': '_reason is null and ' ~ is_event if has_reasons else none,
  }) -%}
{% endmacro %}

{# Whether a line without a reason is an event: it has a version, or is a delete whose place orders it. #}
{% macro get_is_event_sql(columns) %}
  {%- do return(
      '(_version is not null or _is_unversioned)' if '_is_unversioned' in columns else '(_version is not null)'
  ) -%}
{% endmacro %}

{# Whether a line says nothing, or is a tombstone of Kafka's with Debezium's schema around it. #}
{% macro get_says_nothing_sql(line) -%}
  {%- set json = versioned_collapsing.get_json_line_sql(line) -%}
  ({{ versioned_collapsing.get_is_blank_sql(line) }} or (
    array_contains(json_object_keys({{ json }}), 'payload')
    and size(array_except(json_object_keys({{ json }}), array('schema', 'payload'))) = 0
    and get_json_object({{ json }}, '$.payload') is null
  ))
{%- endmacro %}

{# Whether a line says nothing: a blank one, or Kafka's tombstone. #}
{% macro get_is_blank_sql(line) %}
  {%- do return(line ~ " rlike r'^[\\s\\uFEFF]*+(?:null)?[\\s\\uFEFF]*+$'") -%}
{% endmacro %}

{# The lines that cannot be used, with their number in the file. Spark reads a block's lines in their order. #}
{% macro get_numbered_lines_sql(lines) -%}
  {%- if lines.is_parsed -%}
  select _batch, _file, _reason, _raw_line, _line_id - first_id + lines_before + 1 as line_number
  from {{ lines.relation }}
  inner join (
    select
      _file,
      _block_start,
      min(_line_id) as first_id,
      coalesce(sum(count(_is_blank)) over (
        partition by _file order by _block_start rows between unbounded preceding and 1 preceding
      ), 0) as lines_before
    from {{ lines.relation }}
    group by _file, _block_start
  ) using (_file, _block_start)
  where _reason is not null
  {%- else -%}
  select _batch, _file, _reason, _raw_line, line_number
  from (
    select *, row_number() over (partition by _file order by _block_start, _line_id) as line_number
    from (
      select
        _batch,
        _file,
        _block_start,
        monotonically_increasing_id() as _line_id,
        _reason,
        if(_reason is null, null, _raw_line) as _raw_line
      from {{ lines.relation }}
      where {{ lines.is_pending }}
    )
  )
  where _reason is not null
  {%- endif -%}
{%- endmacro %}

{# Each line with `_value`, the one JSON object on it, and `_is_json`. The lines have `_json_line`, and `_parsed`, which
   is that line in the form of get_json_values_sql. `exact` has the fields whose text must be as it is on the line, with
   the paths to them. `type` is the type of the object.

   A generator is a fence to the optimizer: without it, a filter on a reason would have copies of all that the reason is
   made of, and parse each line again and again. It only passes on what is computed below it, because Spark generates no
   code for expressions inside a generator. #}
{% macro get_parsed_lines_sql(lines, type, exact) -%}
  select
    *,
    _values[0] as _value,
    {{ versioned_collapsing.get_is_json_sql('_values') }} as _is_json
  from (
    select *, {{ versioned_collapsing.get_exact_json_values_sql('_json_line', '_parsed', type, exact) }} as _exact
    from ({{ lines }})
  )
  lateral view explode(array(_exact)) as _values
{%- endmacro %}

{# Where the row is on a line that has more than the row. Tools that read logs put the row into a field of its own, and
   the operation, its position and its time beside it.

   Each line gets `_line`, its fields as text, `_json_text`, the JSON of the row, and `_row_problem`. The row's text is
   cut out of the line, because a parser that prints nested JSON changes its numbers. #}
{% macro get_rows_on_lines_sql(lines, row, only, is_deleted) -%}
  {%- set json = versioned_collapsing.get_json_line_sql('_raw_line') -%}
  {%- set fields = versioned_collapsing.get_json_values_sql(
      versioned_collapsing.get_quoted_numbers_sql('_line_text'), 'map<string, string>'
  ) -%}
  {%- set ignored = versioned_collapsing._get_other_lines_sql(only, is_deleted) -%}
  select
    *,
    {{ ignored }} as _ignored
    {%- if row %},
    case
      when _line is null or {{ ignored }} is not null then null
      when size(array_distinct(map_keys(_line))) < size(_line) then 'the line names a field twice'
      when _row_text is null then {{ versioned_collapsing.quote_literal(row | join(' or ') ~ ' is missing') }}
      when left(_row_text, 1) = '[' then concat(
        {{ versioned_collapsing.quote_literal(row | join(' or ') ~ ' has ') }},
        coalesce(size(from_json(_row_text, 'array<string>')), 0), ' rows'
      )
    end as _row_problem,
    if(_line is null, _line_text, if(left(_row_text, 1) = '{', _row_text, '{}')) as _json_text
    {%- endif %}
  from (
    select
      *
      {%- if row %},
      {{ versioned_collapsing._get_row_text_sql(row) }} as _row_text
      {%- endif %}
    from (
      select lines.*, if({{ versioned_collapsing.get_is_json_sql('_fields') }}, _fields[0], null) as _line
      from (
        select *, {{ json }} as _line_text
        from ({{ lines }})
      ) as lines
      lateral view explode(array({{ fields }})) as _fields
    )
  )
{%- endmacro %}

{# What a line is if it has no change of this table: a line of another table, or one whose operation stands for none.
   A line that names a field twice is not ignored, because it may say two things. #}
{% macro _get_other_lines_sql(only, is_deleted) %}
  {%- set cases = [] -%}
  {%- for path, values in only.items() -%}
    {%- set given = [values] if values is string else values -%}
    {%- set field = versioned_collapsing.get_line_field_sql(path) -%}
    {%- do cases.append(
        'when ' ~ field ~ ' not in (' ~ versioned_collapsing.quote_literals(given) ~ ") then concat('" ~ path ~ " ', "
        ~ field ~ ')'
    ) -%}
  {%- endfor -%}
  {%- for path, codes in (is_deleted.items() if is_deleted is mapping else []) -%}
    {%- set field = versioned_collapsing.get_line_field_sql(path) -%}
    {%- for code, meaning in codes.items() if meaning is none -%}
      {%- do cases.append(
          'when ' ~ field ~ ' = ' ~ versioned_collapsing.quote_literal(code) ~ " then concat('" ~ path ~ " ', "
          ~ field ~ ')'
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(
      'case when _line is null or size(array_distinct(map_keys(_line))) < size(_line) then null '
      ~ cases | join(' ') ~ ' end' if cases else 'cast(null as string)'
  ) -%}
{% endmacro %}

{# What a path leads to on a line: a name, or names with dots between. A text that is no path is an expression. #}
{% macro get_line_field_sql(path) %}
  {%- if not versioned_collapsing.is_line_path(path) -%}{%- do return('(' ~ path ~ ')') -%}{%- endif -%}
  {%- set names = path.split('.') -%}
  {%- set field = "_line['" ~ names[0] ~ "']" -%}
  {%- if names | length == 1 -%}{%- do return(field) -%}{%- endif -%}
  {%- do return('get_json_object(' ~ field ~ ", '$." ~ names[1:] | join('.') ~ "')") -%}
{% endmacro %}

{% macro is_line_path(text) %}
  {%- do return(modules.re.match('[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$', text) is not none) -%}
{% endmacro %}

{# The text of the first of these objects that is on the line. An array of one row is that row. #}
{% macro _get_row_text_sql(row) %}
  {%- set texts = [] -%}
  {%- for path in row -%}
    {%- set names = path.split('.') -%}
    {%- set object = versioned_collapsing.get_text_array_sql([''] + names[:-1]) -%}
    {%- set member = versioned_collapsing.get_members_sql('_line_text', object) ~ "['" ~ names[-1] ~ "']" -%}
    {%- set text = "nullif(trim(" ~ versioned_collapsing.get_line_field_sql(path) ~ "), '')" -%}
    {%- do texts.append('coalesce(nullif(' ~ member ~ ", ''), " ~ text ~ ')') -%}
  {%- endfor -%}
  {%- set found = 'coalesce(' ~ texts | join(', ') ~ ')' -%}
  {%- set one = "r'(?s)^\\[\\s*+(\\{.*\\})\\s*+\\]$'" -%}
  {%- do return(
      'transform(array(' ~ found ~ "), _text -> if(left(_text, 1) = '[' "
      ~ "and size(from_json(_text, 'array<string>')) = 1, regexp_extract(_text, " ~ one ~ ', 1), _text))[0]'
  ) -%}
{% endmacro %}

{# A line that does not say of which table it is. #}
{% macro get_line_of_table_problems(only) %}
  {%- set problems = [] -%}
  {%- for path in only -%}
    {%- set field = versioned_collapsing.get_line_field_sql(path) -%}
    {%- do problems.append((field ~ ' is null', "'" ~ path ~ " is missing'")) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The columns of an image as text, `_text_<name>`, and in the declared types. `fields` has the expressions of the
   fields, `path` the names that lead to their object. The generator is a fence as in get_parsed_lines_sql. #}
{% macro get_typed_columns_sql(
    images, path, fields, columns, encodings, toasted=[], prefix='', unavailable='__debezium_unavailable_value',
    ranges={}
) -%}
  {%- set members = '_members' ~ prefix -%}
  select *
  from (
    select
      *,
      struct(
        {%- for name, type in columns.items() %}
        {%- set text = '_text_' ~ prefix ~ name %}
        {%- set typed = versioned_collapsing.get_typed_sql(text, type, encodings.get(name)) %}
        {{ versioned_collapsing.get_clamped_sql(text, typed, type) if ranges.get(name) == 'clamp' else typed }}
        {{- ',' if not loop.last }}
        {%- endfor %}
      ) as _typed{{ prefix }}
    from (
      select
        *,
        array({{ versioned_collapsing.get_placeholders_sql(unavailable) }}) as _placeholders{{ prefix }},
        {%- for name, type in columns.items() %}
        {{ versioned_collapsing.get_text_sql(
            versioned_collapsing.get_field_text_sql(fields[name], name, type, encodings.get(name), members),
            type,
            encodings.get(name),
            name in toasted,
            unavailable,
        ) }} as _text_{{ prefix ~ name }}{{ ',' if not loop.last }}
        {%- endfor %}
      from (
        select *, {{ versioned_collapsing._get_nested_members_sql(path, fields, columns, encodings) }} as {{ members }}
        from {{ images }}
      )
    )
  )
  lateral view inline(array(_typed{{ prefix }})) as {{ prefix }}{{ columns | join(', ' ~ prefix) }}
{%- endmacro %}

{# A field as text; a nested value as it stands on the line. #}
{% macro get_field_text_sql(field, name, type, encoding, members) %}
  {%- do return(
      'if(' ~ field ~ ' is null, null, coalesce(nullif(' ~ members ~ "['" ~ name ~ "'], ''), " ~ field ~ '))'
      if versioned_collapsing.is_text(type, encoding) else field
  ) -%}
{% endmacro %}

{# The nested members of an image that has a nested value in a column of text; null for other images. #}
{% macro _get_nested_members_sql(path, fields, columns, encodings) -%}
  {%- set nested = [] -%}
  {%- for name, type in columns.items() if versioned_collapsing.is_text(type, encodings.get(name)) -%}
    {%- do nested.append('left(' ~ fields[name] ~ ", 1) in ('[', '{')") -%}
  {%- endfor -%}
  {%- set found = versioned_collapsing.get_members_sql('_json_line', path) -%}
  {{ 'if(' ~ nested | join(' or ') ~ ', ' ~ found ~ ', null)' if nested else 'cast(null as map<string, string>)' }}
{%- endmacro %}

{# One row per line: the columns in the declared types, `_version`, the columns of `control` (expressions by name),
   where the line was read, and `_reason`: why the line cannot be used, null if it can. `row` is the map of the row's
   values, `names` the names of its fields. `problems` are pairs of a condition and a reason, which is an expression;
   the first condition that holds counts. For a line that is `_ignored`, only broken JSON and invalid UTF-8 are
   reasons. #}
{% macro get_typed_lines_sql(typed, columns, row, names, known_fields, version, control, problems) -%}
  {%- set may_ignore = control['_ignored'] == '_ignored' -%}
  select
    {%- for name in columns %}
    {{ name }},
    {%- endfor %}
    _version,
    {%- for name, expression in control.items() %}
    {{ expression }} as {{ name }},
    {%- endfor %}
    if(
      _has_known_fields,
      cast(array() as array<string>),
      array_except(
        if(_is_json{{ ' and _ignored is null' if may_ignore }}, {{ names }}, null),
        {{ versioned_collapsing.get_text_array_sql(known_fields) }}
      )
    ) as _unknown_fields,
    _batch,
    _file,
    _block_start,
    _raw_line,
    /* _line_id, */
    case
      when not _is_json and {{ versioned_collapsing.get_is_blank_sql('_json_line') }} then null
      when not is_valid_utf8(_raw_line) then 'invalid UTF-8'
      when not _is_json then {{ versioned_collapsing._get_json_problem_sql() }}
      {%- if may_ignore %}
      when _ignored is not null then null
      {%- endif %}
      when _members['"'] is not null
        or not _has_known_fields and size(array_distinct(map_keys({{ row }}))) < size({{ row }})
        then 'row nests deeper than 20 levels or names a field twice'
      when {{ versioned_collapsing.get_has_lone_surrogate_sql('_raw_line') }} then 'half of a surrogate pair'
      {%- for condition, reason in problems %}
      when {{ condition }} then {{ reason }}
      {%- endfor %}
    end as _reason
  from (
    select
      *,
      {{ version }} as _version,
      {#- True for nearly every line. Such a line needs no search for other names, or for a name that occurs twice. #}
      coalesce(map_keys({{ row }}) = {{ versioned_collapsing.get_text_array_sql(known_fields) }}, false)
        as _has_known_fields
    from {{ typed }}
  )
{%- endmacro %}

{# The reason for a line that was not read as JSON. This check reads no column, so the line may nest to any depth. #}
{% macro _get_json_problem_sql() -%}
  {%- set quoted = versioned_collapsing.get_quoted_numbers_sql('_json_line') -%}
  if(
    exists(
      array({{ versioned_collapsing.get_json_values_sql(quoted, 'struct<_dbt_end: string>', 2147483647) }}),
      _values -> {{ versioned_collapsing.get_is_json_sql('_values') }}
    ),
    'nests deeper than 900 levels',
    'malformed JSON'
  )
{%- endmacro %}
