{# The first of some columns that a landing table has, in quotes; none if it has none of them. #}
{% macro get_landed_column(found, names) %}
  {%- for name in names if name in found.spelling -%}
    {%- do return(versioned_collapsing.quote_name(found.spelling[name])) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}

{# The change set in any landing table. Its rows have a version, can be deletes, and can have a watermark, which grows
   as rows land. Without a watermark, each run reads the whole table. #}
{% macro landed_changes(
    landing, version, is_deleted='false', watermark=none, overlap='1 hour', through=none, own=[], toasted=[],
    unavailable_value='__debezium_unavailable_value'
) -%}
  {%- if not execute -%}{%- do return(versioned_collapsing.get_unread_landing_sql()) -%}{%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- set own = own | map('lower') | list -%}
  {%- do versioned_collapsing.validate_landed_names(found, {'toasted': toasted}) -%}
  {{ versioned_collapsing.get_landed_changes_sql(found, {
      'payload': versioned_collapsing.get_landed_payload(found, own),
      'version': version,
      'is_deleted': is_deleted,
      'settles_ties': true,
      'watermark': watermark or 'cast(null as Nullable(UInt64))',
      'condition': versioned_collapsing.read_range(found, watermark, overlap, through) if watermark else 'true',
      'control': versioned_collapsing.get_placeholder_control(toasted, unavailable_value),
  }) }}
{%- endmacro %}

{# What a bridge returns while dbt parses, when nothing has been read yet. #}
{% macro get_unread_landing_sql() %}
  {%- do return('select 1 as unread') -%}
{% endmacro %}

{# What ClickHouse says of a landing table: its names, its columns with their types, and its UUID, which changes when
   the tool builds the table again. `columns` are those that a tool can fill. `spelling` maps names in lower case to the
   names, also of columns that the table computes (MATERIALIZED, ALIAS). `all_columns` selects both. #}
{% macro read_landing(landing) %}
  {%- set columns = versioned_collapsing.read_table_columns(landing) -%}
  {%- set found = versioned_collapsing.read_tables([landing]).get(landing.identifier) -%}
  {%- do versioned_collapsing.validate_landing(landing, columns) -%}
  {%- set computed = versioned_collapsing.read_table_columns(landing, ('MATERIALIZED', 'ALIAS')) -%}
  {%- set spelling = {} -%}
  {%- for column in columns + computed -%}
    {%- do spelling.update({column.name | lower: column.name}) -%}
  {%- endfor -%}
  {%- do return({
      'relation': landing,
      'name': landing.schema ~ '.' ~ landing.identifier,
      'columns': columns,
      'spelling': spelling,
      'all_columns': versioned_collapsing.quote_names((columns + computed) | map(attribute='name') | list),
      'uuid': found.uuid,
      'engine': found.engine,
  }) -%}
{% endmacro %}

{% macro validate_landing(landing, columns) %}
  {%- if not columns -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        landing ~ " does not exist, or has no columns. Name the table that the tool lands, as a source."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}

{# Arguments must name columns of the landing table. #}
{% macro validate_landed_names(found, arguments) %}
  {%- set known = found.columns | map(attribute='name') | list -%}
  {%- set problems = [] -%}
  {%- for argument, names in arguments.items() -%}
    {%- for name in names | reject('in', known) -%}
      {%- do problems.append(
          argument ~ " names " ~ name ~ ", which is no column of " ~ found.relation ~ ". It has "
          ~ known | join(', ') ~ "."
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change set') -%}
{% endmacro %}

{# The change set in a landing table. `layout` says where it is: `payload`, the columns; `version`, `is_deleted` and
   `watermark`, expressions; `condition`, for the rows to read; `control`, expressions for further control columns by
   name; `rows` and `columns`, what to select from and which columns, if it is not the table itself and all of it;
   `settles_ties`, whether a delete and a row can have one version. #}
{% macro get_landed_changes_sql(found, layout) -%}
  select
    {%- for name in layout.payload %}
    {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {{ layout.version }} as _version,
    {{ layout.is_deleted }} as _is_deleted,
    {%- for name, sql in layout.control.items() %}
    {{ sql }} as {{ name }},
    {%- endfor %}
    {{ versioned_collapsing.get_watermark_columns_sql(found, layout.watermark) }}
  from (
    select {{ layout.columns or found.all_columns }}
    from {{ layout.rows or found.relation }}
    where {{ layout.condition }}
    {%- if layout.settles_ties and layout.is_deleted != 'false' %}
      and {{ versioned_collapsing._get_is_not_replaced_sql(
          found, layout, versioned_collapsing.get_source_key(model)
      ) }}
    {%- endif %}
  )
{%- endmacro %}

{# What tells the materialization how far a landing table has been read. #}
{% macro get_watermark_columns_sql(found, watermark) -%}
    {{ watermark }} as _watermark,
    tuple({{ versioned_collapsing.quote_literal(found.name) }}, toUUID('{{ found.uuid }}')) as _landing
{%- endmacro %}

{# If a delete and a row have the same key and version, the one that landed last counts, as in the FINAL of a
   ReplacingMergeTree: a transaction that deletes a row and inserts it again has updated it. Only versions of deletes
   are checked. The name of a part begins with its partition and the number of its first block. #}
{% macro _get_is_not_replaced_sql(found, layout, key) %}
  {%- if not key or not found.engine.endswith('MergeTree') -%}{%- do return('true') -%}{%- endif -%}
  {%- set names = versioned_collapsing.quote_names(key) -%}
  {%- set place = "(toUInt64OrZero(splitByChar('_', _part)[2]), _part_offset)" -%}
  {%- set from = 'from ' ~ found.relation ~ ' where ' ~ layout.condition -%}
  {%- set deletes = 'select ' ~ names ~ ', ' ~ layout.version ~ ' ' ~ from ~ ' and ' ~ layout.is_deleted -%}
  {%- do return(
      '(' ~ names ~ ', ' ~ layout.version ~ ', toBool(' ~ layout.is_deleted ~ ')) not in (select ' ~ names ~ ', '
      ~ layout.version ~ ' as _dbt_version, not argMax(toBool(' ~ layout.is_deleted ~ '), ' ~ place ~ ') ' ~ from
      ~ ' and (' ~ names ~ ', ' ~ layout.version ~ ') in (' ~ deletes ~ ') group by ' ~ names
      ~ ', _dbt_version having uniqExact(toBool(' ~ layout.is_deleted ~ ')) = 2)'
  ) -%}
{% endmacro %}

{# The columns of a landing table that come from the source, not from the tool. #}
{% macro get_landed_payload(found, own) %}
  {%- set payload = [] -%}
  {%- for column in found.columns if column.name | lower not in own -%}
    {%- do payload.append(column.name) -%}
  {%- endfor -%}
  {%- do return(payload) -%}
{% endmacro %}

{# The condition for the rows that this run reads. `keeps_all`: whether rows stay in the table after they are read. #}
{% macro read_range(found, watermark, overlap, through, rows=none, keeps_all=true) %}
  {%- set type = versioned_collapsing.read_query_columns(
      'select ' ~ watermark ~ ' as _watermark from ' ~ (rows or found.relation)
  )[0].type -%}
  {%- do versioned_collapsing.validate_watermark(watermark, type, overlap) -%}
  {%- set last = versioned_collapsing.read_watermark(found.name, this, model) -%}
  {%- do versioned_collapsing.validate_same_landing(found, last, model) -%}
  {%- if last.text and keeps_all and versioned_collapsing.is_building() -%}
    {%- set is_read = versioned_collapsing.get_range_sql(watermark, type, none, overlap, last.text) -%}
    {%- do versioned_collapsing.warn_of_emptied_landing(found, rows or found.relation, is_read, last, model) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.get_range_sql(watermark, type, last.text, overlap, through)) -%}
{% endmacro %}

{# A watermark must be comparable with the ledger's, and an overlap must be subtractable from it. #}
{% macro validate_watermark(watermark, type, overlap) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- set is_time = base.startswith('DateTime') -%}
  {%- set problems = [] -%}
  {%- if not is_time and not modules.re.fullmatch('U?Int(8|16|32|64)', base) -%}
    {%- do problems.append(
        "watermark is " ~ watermark ~ ", which is " ~ type ~ "; it takes a DateTime, a DateTime64 or an integer."
    ) -%}
  {%- elif is_time and versioned_collapsing.get_interval_sql(overlap) is none -%}
    {%- do problems.append(
        "overlap is " ~ overlap ~ ", but the watermark " ~ watermark ~ " is a time; overlap takes a length of time "
        ~ "such as '1 hour'."
    ) -%}
  {%- elif not is_time and (overlap is not integer or overlap < 0) -%}
    {%- do problems.append(
        "overlap is " ~ overlap ~ ", but the watermark " ~ watermark ~ " is a number; overlap takes a number, 0 or "
        ~ "more."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change set') -%}
{% endmacro %}

{# How far the applies of a model's table have read a landing table: the ledger's watermark, none if the table is yet to
   be built, and the UUID that the landing table had. A watermark counts once its apply is `applied`. #}
{% macro read_watermark(landing_name, target_relation, model) %}
  {%- set nothing = {'text': none, 'uuid': none} -%}
  {%- if target_relation is none or should_full_refresh() -%}{%- do return(nothing) -%}{%- endif -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- if not versioned_collapsing.read_tables([ledger]) -%}{%- do return(nothing) -%}{%- endif -%}
  {%- set found = run_query(
      versioned_collapsing._get_watermark_sql(ledger, landing_name, target_relation, model)
  ).rows[0] -%}
  {%- set last = {'text': found['_dbt_watermark'], 'uuid': found['_dbt_uuid']} -%}
  {%- do return(last if last.text else nothing) -%}
{% endmacro %}

{% macro _get_watermark_sql(ledger, landing_name, target_relation, model) -%}
  select
    argMax(_dbt_landed.watermark, at) as _dbt_watermark,
    toString(argMax(_dbt_landed.uuid, at)) as _dbt_uuid
  from {{ ledger }}
  array join watermarks as _dbt_landed
  where model = {{ versioned_collapsing.quote_literal(model.name) }}
    and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(target_relation) }}
    and status = 'applied'
    and _dbt_landed.landing = {{ versioned_collapsing.quote_literal(landing_name) }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# A tool that rebuilds a landing table omits rows that were deleted meanwhile, and may start its versions again. #}
{% macro validate_same_landing(found, last, model) %}
  {%- if last.uuid and last.uuid != found.uuid | string and versioned_collapsing.is_building() -%}
    {%- do exceptions.raise_compiler_error(
        found.relation ~ " was built again since " ~ model.name ~ " has read it last: its UUID is " ~ found.uuid
        ~ " and was " ~ last.uuid ~ ". Rows that were deleted meanwhile would stay, and versions may have begun anew. "
        ~ "Build the model again: " ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The condition for the rows to read: those at or above the last watermark, and those that may have landed late, which
   are as far below it as the overlap; up to `through`. A row without a watermark is always read. #}
{% macro get_range_sql(watermark, type, last, overlap, through) %}
  {%- set bounds = [] -%}
  {%- if last is not none -%}
    {%- do bounds.append('>= ' ~ versioned_collapsing._get_lower_bound_sql(type, last, overlap)) -%}
  {%- endif -%}
  {%- if through is not none -%}
    {%- do bounds.append('<= ' ~ versioned_collapsing._get_watermark_literal_sql(type, through)) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.get_texts(
      '(isNull(' ~ watermark ~ ') or ' ~ watermark ~ ' {})', bounds
  ) | join(' and ') or 'true') -%}
{% endmacro %}

{% macro _get_lower_bound_sql(type, last, overlap) %}
  {%- if overlap is number -%}
    {%- do return(versioned_collapsing._get_watermark_literal_sql(type, [last | int - overlap, 0] | max)) -%}
  {%- endif -%}
  {%- do return(
      versioned_collapsing._get_watermark_literal_sql(type, last) ~ ' - '
      ~ versioned_collapsing.get_interval_sql(overlap)
  ) -%}
{% endmacro %}

{# The ledger has times in UTC. #}
{% macro _get_watermark_literal_sql(type, text) %}
  {%- set base = versioned_collapsing.get_utc_type(versioned_collapsing.get_base_type(type)) -%}
  {%- do return('cast(' ~ versioned_collapsing.quote_literals([text | string, base]) ~ ')') -%}
{% endmacro %}

{# Nothing is left of what was read before, so there may have been rows that no run has read. A merge leaves nothing
   only if every row has been replaced. #}
{% macro warn_of_emptied_landing(found, rows, is_read, last, model) %}
  {%- set query = 'select 1 as _dbt_n from ' ~ rows ~ ' where ' ~ is_read ~ ' limit 1 '
      ~ versioned_collapsing.get_settings_sql() -%}
  {%- if not run_query(query).rows -%}
    {%- do exceptions.warn(
        found.relation ~ " has no row up to " ~ last.text ~ " any more, which is how far " ~ model.name ~ " has read. "
        ~ "If it was emptied, or has lost rows to a TTL, then rows or deletes may never have been read. Compare the "
        ~ "model with the source: dbt run-operation reconcile. Or build it again: "
        ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The names of the columns that a change leaves as they are: those that hold Debezium's placeholder. #}
{% macro get_placeholder_control(toasted, unavailable_value) %}
  {%- if not toasted -%}{%- do return({}) -%}{%- endif -%}
  {%- set placeholder = versioned_collapsing.quote_literal(unavailable_value) -%}
  {%- set names = [] -%}
  {%- for name in toasted -%}
    {%- do names.append(
        'if(ifNull(' ~ versioned_collapsing.quote_name(name) ~ ' = ' ~ placeholder ~ ', false), '
        ~ versioned_collapsing.quote_literal(name) ~ ", '')"
    ) -%}
  {%- endfor -%}
  {%- do return({'_unset': "arrayFilter(name -> name <> '', [" ~ names | join(', ') ~ '])'}) -%}
{% endmacro %}

{# The tool must have added a column that the bridge needs. #}
{% macro validate_landed_column(found, column, what, names, argument) %}
  {%- if column is none -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        found.relation ~ " has no column " ~ names | join(' or ') ~ ", which has " ~ what ~ ". It has "
        ~ found.columns | map(attribute='name') | join(', ') ~ ". Name the table that the tool lands"
        ~ (", or pass " ~ argument ~ "." if argument else ".")
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}

{# An update that changes the key must delete the row of the old key, so the key must be known. #}
{% macro validate_bridge_key(key) %}
  {%- if not key -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        "unique_key is missing. Name the column or columns that identify an entity: an update may change them."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}
