{# The rows that applies after a given number have published to the change feed, for `from`. Summed by sign, they turn
   the table as it was then into the table as it is now. #}
{% macro changes_since(relation, apply=0) -%}
  {%- set history = versioned_collapsing.read_history('changes_since', relation) -%}
  {%- if not history -%}{%- do return('(select * from ' ~ relation ~ ')') -%}{%- endif %}
  (
    with ({{ versioned_collapsing.get_applies_since_sql(history, apply, with_open=false) }}) as _dbt_applies
    select {{ history.all }}, _apply, _applied_at, _changed_version
    from {{ history.feed }}
    where {{ versioned_collapsing.get_is_of_applies_sql('_dbt_applies') }}
  )
{%- endmacro %}
