"""Before Spark starts, only calls that are certain to fail stop a run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dbt.adapters.spark_clickhouse.router.selected_models import unknown_calls

CONTEXT = {"shop": {"orders_of": print}, "target": {"type": "it"}, "context": {"print": print}, "print": print}
VALID = [
    "{{ shop['orders' ~ '_of']() }} {{ shop.get('orders_of')() }} {{ context['print']() }} {{ target.get('type') }}",
    "{% if other_package is defined %}{{ other_package.x() }} {{ other() }}{% elif other() %}{% else %}{{ x() }}{% endif %}",
    "{% if target.type == 'x' %}{{ shop.only_there() }}{% endif %}",
    "{{ only_there() if target.type == 'x' else elsewhere() }}",
    "{{ (other is defined and other()) or nothing() }}",
    "{% for each in [] %}{{ other() }}{% else %}{{ loop.index }}{% endfor %}",
    "{% call(x) print() %}{{ other(x) }}{% endcall %}{% macro unused() %}{{ other() }}{% endmacro %}",
    "{% set shop = {'x': print} %}{{ shop.x() }} {% set other = print %}{{ other() }}",
    "{# {{ other() }} #}{% raw %}{{ other() }}{% endraw %}{{ '{{ other() }}' }}{{ namespace(a=range(1)) }}",
]
WRONG = [
    ("{{ shop.order_of() }}", "orders calls shop.order_of, but shop has no such macro. Did you mean orders_of?"),
    ("{% if orders_of() %}{% endif %}", "orders calls orders_of, but there is no such macro. Write shop.orders_of."),
    ("{% for each in prints(1) %}{% endfor %}", "orders calls prints, but there is no such macro. Did you mean print?"),
    ("{{ print(nobodys() or 1) }}", "orders calls nobodys, but there is no such macro."),
]


@pytest.mark.parametrize("code", VALID)
def test_a_call_that_may_work(code: str) -> None:
    assert list(unknown_calls(SimpleNamespace(unique_id="orders", language="sql", raw_code=code), CONTEXT)) == []


@pytest.mark.parametrize(("code", "message"), WRONG)
def test_a_call_that_fails(code: str, message: str) -> None:
    model = SimpleNamespace(unique_id="orders", language="sql", raw_code=code)
    assert list(unknown_calls(model, CONTEXT)) == [message]
