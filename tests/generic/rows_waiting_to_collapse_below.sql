{# No partition has more rows that wait to be merged away than `rows`, or more of them to a stored row than `share`. They
   make every query read more; a partition that is not merged any more keeps them for good. #}
{% test rows_waiting_to_collapse_below(model, rows=none, share=none, sign=none, sample=none, recent_partitions=none) %}
{%- if rows is none and share is none -%}
  {%- do exceptions.raise_compiler_error("rows_waiting_to_collapse_below: say how many may wait, by `rows`, by `share` of the stored rows, or by both.") -%}
{%- endif -%}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.get_signed_table(model, sign) %}

select
  _partition_id as partition_id,
  count() as stored_rows,
  stored_rows - sum({{ table.sign }}) as waiting_rows,
  waiting_rows / stored_rows as waiting_share,
  concat(
    toString(waiting_rows), ' of ', toString(stored_rows), ' rows wait to collapse'
  ) as failing_condition
from {{ table.relation }}
where {{ versioned_collapsing.get_scope_sql(table, where, sample, recent_partitions) }}
group by partition_id
having false
  {%- if rows is not none %}
  or waiting_rows >= {{ rows / sample if sample else rows }}
  {%- endif %}
  {%- if share is not none %}
  or waiting_share >= {{ share }}
  {%- endif %}

{% endtest %}
