{# The batch of the new extract, the newest that this run takes, null when each target has it or a newer one; and the
   batches to compare. In a unit test, which takes no batches, the newest is compared with the one before it. #}
{% macro get_extract_pair_sql(events, batches, is_new_to_a_target) -%}
  {%- if this is none -%}
  select max(_batch) as _new_batch, collect_set(_batch) as _batches
  from (select _batch, dense_rank() over (order by _batch desc) as _place from {{ events }})
  where _place <= 2
  {%- else -%}
  {%- set above = '>=' if is_new_to_a_target or batches | length > 1 else '>' -%}
  {%- set newest = 'if(max(batch) ' ~ above ~ ' ' ~ batches[-1] ~ ', max(batch), null)' if batches else 'max(batch)' -%}
  select _new_batch, if(_new_batch is null, array(), array({{ (['_new_batch'] + batches) | join(', ') }})) as _batches
  from (
    select {{ newest }} as _new_batch
    from {{ versioned_collapsing.get_change_set_manifest_relation(this) }}
  )
  {%- endif -%}
{%- endmacro %}
