{% macro get_column_type_problems(options, table) %}
  {%- set names = table | map(attribute='name') | list -%}
  {%- set problems = [] -%}
  {%- for column in table -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- set is_key = column.name in options.unique_key + options.order_by -%}
    {%- if column.name == options.version and not versioned_collapsing._is_version_type(base) -%}
      {%- do problems.append(
          "version: " ~ column.name ~ " is " ~ column.type ~ ", but a version must be UInt*, Int*, Date, Date32, "
          ~ "DateTime or DateTime64. Declare such a data_type, or cast the column in the select."
      ) -%}
    {%- endif -%}
    {%- if base == 'Nothing' -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is null in every row, so its type is unknown. Declare its data_type, or cast "
          ~ "it in the select, for example cast(null as Nullable(String))."
      ) -%}
    {%- elif is_key and versioned_collapsing.get_key_type_problems(column.name, column.type) -%}
      {%- do problems.extend(versioned_collapsing.get_key_type_problems(column.name, column.type)) -%}
    {%- elif versioned_collapsing.is_nullable_type(column.type) and versioned_collapsing.is_required_column(column.name,
        options, names) -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.type ~ ", but columns of unique_key, version, order_by and "
          ~ "partition_by cannot be Nullable. Declare another data_type, or replace nulls in the select with ifNull."
      ) -%}
    {%- endif -%}
    {%- if base.startswith(('AggregateFunction(', 'Nested(')) -%}
      {%- set advice = "Select each of its parts as an array." if base.startswith('Nested(')
          else "Keep aggregate states in a view on the table." -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.type ~ ", and two values of this type cannot be compared. "
          ~ advice
      ) -%}
    {%- elif not versioned_collapsing.can_convert(column.given_type, column.type) -%}
      {%- do problems.append(
          "columns: " ~ column.name ~ " is " ~ column.given_type ~ " in the select, and values of this type cannot be "
          ~ "converted to " ~ column.type ~ ". Convert them in the select, or declare another data_type."
      ) -%}
    {%- endif -%}
    {%- if options.combine.get(column.name) in ('greatest', 'least')
        and not versioned_collapsing.has_order(column.type) -%}
      {%- do problems.append(
          "combine: " ~ column.name ~ " has the policy '" ~ options.combine[column.name] ~ "', but it is " ~ column.type
          ~ ", and values of this type have no order. Use 'latest', 'coalesce' or 'first'."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _is_version_type(type) %}
  {%- do return(modules.re.match('U?Int[0-9]|Date', type) is not none) -%}
{% endmacro %}
