{# Every entity has one live row or none. Two mean that a cancel row is missing or misplaced. #}
{% test one_live_row_per_key(model, unique_key, sign='_sign') %}

select
  {{ unique_key if unique_key is string else unique_key | join(', ') }},
  sum({{ sign }}) as live_rows
from {{ model }}
group by all
having live_rows not in (0, 1)

{% endtest %}
