{# Every stored row, compared in all columns but the sign, is there once or not at all once its pairs are taken
   away: -1 is a cancel row without its state row, 2 a state row written twice. #}
{% test cancel_rows_match_state_rows(model, sign='_sign') %}

select
  * except ({{ sign }}),
  sum({{ sign }}) as net_sign
from {{ model }}
group by all
having net_sign not in (0, 1)

{% endtest %}
