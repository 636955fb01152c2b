"""The package in other projects, which have only what `dbt deps` installs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.chdb_http import running_server
from tests.support.commands import dbt, variables
from tests.support.shop import REPOSITORY

PROJECT = {"name": "consumer", "profile": "consumer", "flags": {"send_anonymous_usage_stats": False}}
# The demo also has a model of this name, with tests that must not come with the package.
ORDERS = """
{{ config(materialized='versioned_collapsing', unique_key='order_id', partition_by='status') }}

select 1 as order_id, 'north' as region, '{{ var("status") }}' as status, toDecimal64(10, 2) as amount,
  {{ var("version") }} as _version, false as _is_deleted
"""
REVENUE = """
select region, {{ versioned_collapsing.signed_sum('amount') }} as revenue, {{ versioned_collapsing.signed_count() }} as orders
from {{ ref('orders') }}
group by region
{{ versioned_collapsing.having_live() }}
"""
REVENUE_LIVE = """
{{ config(materialized='versioned_collapsing_view', order_by='region') }}
{{ versioned_collapsing.signed_sums(ref('orders'), {'region': 'region'}, {'revenue': 'amount'}, count='orders') }}
"""
SUMS = {"group_by": "region", "sums": {"revenue": "amount"}, "count": "orders"}
TESTS: list[Any] = [
    "sign_is_unit",
    "net_sign_is_zero_or_one",
    "cancel_rows_match_state_rows",
    "final_equals_signed_sums",
    "every_event_is_accounted_for",
    {"one_live_row_per_key": {"arguments": {"unique_key": "order_id"}}},
    {"pairs_share_a_partition": {"arguments": {"unique_key": "order_id"}}},
    {"live_version_is_the_highest": {"arguments": {"unique_key": "order_id"}}},
    {"rows_waiting_to_collapse_below": {"arguments": {"rows": 100}}},
    {"aggregate_agrees": {"arguments": {"aggregate": "ref('revenue')", **SUMS}}},
    {"aggregate_agrees": {"name": "live", "arguments": {"aggregate": "ref('revenue_live')", **SUMS}}},
]


def data_tests() -> list[dict[str, Any]]:
    """The tests, by their names in another project."""
    named = [{test: {}} if isinstance(test, str) else test for test in TESTS]
    return [{f"versioned_collapsing.{name}": given for name, given in test.items()} for test in named]


def packages() -> str:
    """The packages.yml from the page on dbt-clickhouse, with the path of this clone."""
    (snippet,) = re.findall(
        r"```yaml\n# packages.yml\n(.*?)```", (REPOSITORY / "docs" / "your_project.md").read_text(), re.DOTALL
    )
    assert "../versioned_collapsing" in snippet
    return str(snippet).replace("../versioned_collapsing", str(REPOSITORY))


@pytest.fixture
def consumer(tmp_path: Path) -> Iterator[Path]:
    """A project with nothing but its models, on the stock adapter; tests/release has ours."""
    for path, text in (
        ("packages.yml", packages()),
        ("dbt_project.yml", yaml.safe_dump(PROJECT)),
        ("models/orders.sql", ORDERS),
        ("models/revenue.sql", REVENUE),
        ("models/revenue_live.sql", REVENUE_LIVE),
        ("models/models.yml", yaml.safe_dump({"models": [{"name": "orders", "data_tests": data_tests()}]})),
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    with running_server(tmp_path / "server", password="secret") as (host, port):
        output = {"type": "clickhouse", "schema": "shop", "host": host, "port": port, "password": "secret"}
        profile = {"consumer": {"target": "dev", "outputs": {"dev": output}}}
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
        yield tmp_path


def test_a_model_is_built_and_tested_where_the_package_is_installed(consumer: Path) -> None:
    installed, first, second, status = dbt(
        consumer / "home",
        ["deps"],
        ["build", *variables(version=1, status="pending")],
        ["build", *variables(version=2, status="paid")],
        ["run-operation", "collapse_status"],
        folder=consumer,
    )
    assert installed.success, installed.why()
    assert first.success, first.why()
    assert first.nodes["orders"] == ("success", "1 row: 1 state")
    assert second.success, second.why()
    assert second.nodes["orders"] == ("success", "1 row: 1 state, 1 cancel")
    assert len(second.nodes) == 3 + len(TESTS)  # nothing from the demo
    assert status.success, status.why()
