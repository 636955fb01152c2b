{% macro validate_landing(landing, columns) %}
  {%- if not columns -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        landing ~ " does not exist, or has no columns. Name the table that the tool lands, as a source."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}


{# A bridge needs a column that the tool adds to its tables. #}
{% macro validate_landed_column(found, column, what, names, argument) %}
  {%- if column is none -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        found.relation ~ " has no column " ~ names | join(' or ') ~ ", which has " ~ what ~ ". It has "
        ~ found.columns | map(attribute='name') | join(', ') ~ ". Name the table that the tool lands"
        ~ (", or pass " ~ argument ~ "." if argument else ".")
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}


{# Arguments that name columns of the landing table. #}
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


{# An update that changes the key is to delete the row of the old one. #}
{% macro validate_bridge_key(key) %}
  {%- if not key -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        "unique_key is missing. Name the column or columns that identify an entity: an update may change them."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}


{# A watermark can be compared with what the ledger has, and an overlap taken from it. #}
{% macro validate_watermark(found, watermark, type, overlap) %}
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


{# A tool that builds a landing table again leaves out rows that were deleted meanwhile, and may begin anew with its
   versions. #}
{% macro validate_same_landing(found, last, model) %}
  {%- if last.uuid and last.uuid != found.uuid | string and versioned_collapsing.is_building() -%}
    {%- do exceptions.raise_compiler_error(
        found.relation ~ " was built again since " ~ model.name ~ " has read it last: its UUID is " ~ found.uuid
        ~ " and was " ~ last.uuid ~ ". Rows that were deleted meanwhile would stay, and versions may have begun anew. "
        ~ "Build the model again: " ~ versioned_collapsing.get_rebuild_command(model)
    ) -%}
  {%- endif -%}
{% endmacro %}
