{# Every state of each key, for `from`: when it was valid, and when the table had it (SCD type 2). #}
{% macro versions(relation, sign=none, unique_key=none, version_column=none) -%}
  {%- set history = versioned_collapsing.read_history(
      'versions', relation, true, sign, unique_key, version_column
  ) -%}
  {%- if not history -%}{%- do return(versioned_collapsing.get_no_history_sql(relation, sign)) -%}{%- endif -%}
  {%- do versioned_collapsing.validate_version_columns(
      history, ['valid_from', 'valid_to', 'is_current', 'known_from', 'known_to']
  ) %}
  (
    select
      {{ history.names }},
      _dbt_from as valid_from,
      if(_dbt_is_current, null, _dbt_to) as valid_to,
      _dbt_is_current as is_current,
      _dbt_known_from as known_from,
      if(_dbt_is_current, null, _dbt_known_to) as known_to
    from {{ versioned_collapsing.get_states_with_validity_sql(history) }}
  )
{%- endmacro %}

{# The table must not have the columns that `versions` adds. #}
{% macro validate_version_columns(history, added) %}
  {%- set taken = added | select('in', history.plain_names) | list -%}
  {%- if taken -%}
    {%- do versioned_collapsing.validate_no_problems('versions', [
        history.relation ~ ' has ' ~ taken | join(', ') ~ ', and `versions` adds '
        ~ ('a column of this name. Rename it' if taken | length == 1 else 'columns of these names. Rename them')
        ~ ' in the model of the table.'
    ]) -%}
  {%- endif -%}
{% endmacro %}
