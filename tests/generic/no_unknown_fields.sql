{# Of a staging model: warns of fields that its columns do not name, among the batches that a change set holds, with
   the number of lines that have each. #}
{% test no_unknown_fields(model, change_set) %}
  {{ config(severity='warn') }}
  select _dbt_batch as batch, _dbt_field as field, count(*) as lines
  from (
    select _batch as _dbt_batch, explode(_unknown_fields) as _dbt_field
    from {{ model }}
    where _reason is null
      and _batch in (select batch from {{ versioned_collapsing.get_change_set_manifest_relation(change_set) }})
  )
  group by _dbt_batch, _dbt_field
{% endtest %}
