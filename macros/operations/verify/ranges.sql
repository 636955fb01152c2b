{# The columns of the key by which ranges are cut, on both sides. It is the column itself if an index or another
   database can use it, and otherwise the value that is compared. #}
{% macro get_range_keys(comparison) %}
  {%- set keys = {'live': [], 'true': []} -%}
  {%- for name in comparison.options.unique_key -%}
    {%- set column = comparison.columns[name] -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- set given = versioned_collapsing.get_base_type(column.given_type) -%}
    {%- set is_text = base.startswith('Enum') -%}
    {%- set is_same = given == base or (given.startswith(('Int', 'UInt')) and base.startswith(('Int', 'UInt'))) -%}
    {%- set quoted = versioned_collapsing.quote_name(name) -%}
    {%- set type = 'String' if is_text else base -%}
    {%- do keys.live.append({
        'type': type,
        'is_nullable': is_text or 'Nullable(' in column.type,
        'sql': versioned_collapsing.get_live_value_sql(column) if is_text else quoted,
    }) -%}
    {%- do keys.true.append({
        'type': type,
        'is_nullable': is_text or not is_same or 'Nullable(' in column.given_type,
        'sql': quoted if is_same and not is_text else versioned_collapsing.get_true_value_sql(column),
    }) -%}
  {%- endfor -%}
  {%- do return(keys) -%}
{% endmacro %}


{# The condition that a key is in a range: at or above `lower`, and below `upper`. Every key is in exactly one range: if
   a null makes a comparison unknown, both conditions take the key to be below the bound. #}
{% macro get_is_in_range_sql(keys, range) %}
  {%- set conditions = ['true'] -%}
  {%- if range.number > 1 -%}
    {%- do conditions.append(versioned_collapsing._get_is_from_sql(keys, range.lower)) -%}
  {%- endif -%}
  {%- if range.number < range.ranges -%}
    {%- do conditions.append(versioned_collapsing._get_is_below_sql(keys, range.upper)) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ')) -%}
{% endmacro %}


{% macro _get_is_from_sql(keys, bound) %}
  {%- set first = versioned_collapsing._get_first_of_bound_sql(keys, bound) -%}
  {%- if keys | selectattr('is_nullable') | list -%}
    {%- do return(
        'ifNull(' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' >= '
        ~ versioned_collapsing._get_key_bound_sql(keys, bound) ~ ', false)'
    ) -%}
  {%- elif keys | length == 1 -%}
    {%- do return(keys[0].sql ~ ' >= ' ~ first) -%}
  {%- endif -%}
  {%- do return(
      keys[0].sql ~ ' >= ' ~ first ~ ' and ' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' >= '
      ~ versioned_collapsing._get_key_bound_sql(keys, bound)
  ) -%}
{% endmacro %}


{% macro _get_is_below_sql(keys, bound) %}
  {%- set first = versioned_collapsing._get_first_of_bound_sql(keys, bound) -%}
  {%- if keys | selectattr('is_nullable') | list -%}
    {%- do return(
        'not ifNull(' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' >= '
        ~ versioned_collapsing._get_key_bound_sql(keys, bound) ~ ', false)'
    ) -%}
  {%- elif keys | length == 1 -%}
    {%- do return(keys[0].sql ~ ' < ' ~ first) -%}
  {%- endif -%}
  {%- do return(
      keys[0].sql ~ ' <= ' ~ first ~ ' and ' ~ versioned_collapsing._get_key_tuple_sql(keys) ~ ' < '
      ~ versioned_collapsing._get_key_bound_sql(keys, bound)
  ) -%}
{% endmacro %}


{% macro _get_key_tuple_sql(keys) %}
  {%- do return('tuple(' ~ keys | map(attribute='sql') | join(', ') ~ ')') -%}
{% endmacro %}


{# A bound is the text of a tuple. #}
{% macro _get_key_bound_sql(keys, bound) %}
  {%- set type = 'Tuple(' ~ keys | map(attribute='type') | join(', ') ~ ')' -%}
  {%- do return(
      'cast(' ~ versioned_collapsing.quote_literal(bound) ~ ', ' ~ versioned_collapsing.quote_literal(type) ~ ')'
  ) -%}
{% endmacro %}


{% macro _get_first_of_bound_sql(keys, bound) %}
  {%- do return('tupleElement(' ~ versioned_collapsing._get_key_bound_sql(keys, bound) ~ ', 1)') -%}
{% endmacro %}
