"""The shop on the real engines, from PostgreSQL's change stream to the marts."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from scripts.shop.stream import Size, make
from tests.support import shop, shop_marts
from tests.support.balance import assert_ledger_adds_up
from tests.support.commands import Outcome, dbt, variables


def assert_tables_equal_postgresql(client: Client, batch: int, reference: Path = shop.EXPECTED) -> None:
    for table in shop.TABLES:
        expected = sorted(shop.expected_rows(table, batch, reference), key=repr)
        assert sorted(shop.live_rows(client, table), key=repr) == expected
        assert sorted(shop.net_rows(client, table), key=repr) == expected
        assert sorted(shop.rows_of_live_view(client, table), key=repr) == expected
    assert_all_lines_are_accounted_for(client)


def assert_all_lines_are_accounted_for(client: Client) -> None:
    assert_ledger_adds_up(lambda sql: shop.query(client, sql), "shop")
    unknown = (
        "select model, batches.batch from shop.versioned_collapsing_ledger "
        f"where status = 'applied' and model in {tuple(shop.TABLES)} and (lines is null or events is null)"
    )
    assert shop.query(client, unknown) == []


def assert_kept_marts_equal_postgresql(client: Client, batch: int, landing: Path = shop.LANDING) -> None:
    kept = shop_marts.kept_marts(shop.query(client, shop_marts.MARTS_SQL))
    assert kept == shop_marts.expected_marts(batch, landing)


def shown_marts(outcome: Outcome) -> shop_marts.Figures:
    """The kept marts, from the output of `dbt show`."""
    shown = json.loads(outcome.output[outcome.output.index("{\n") :])["show"]
    return shop_marts.kept_marts((row["mart"], json.loads(row["groups"]), json.loads(row["figures"])) for row in shown)


def assert_marts_agree(client: Client, batch: int = 20, data: Path = shop.DATA) -> None:
    assert_kept_marts_equal_postgresql(client, batch, data / "landing")
    summary = shop.summary(data / "expected")
    reference = summary["orders"]
    view = shop.query(client, "select region, toString(month), toString(revenue) from shop.revenue_by_region_and_month")
    live = shop.query(
        client,
        "select region, toString(month), toString(sum(revenue)) from shop.revenue_by_region_and_month_live "
        "group by region, month having sum(orders) <> 0",
    )
    assert sorted(view) == sorted(live)
    months = {
        (row["region"], row["month"]): float(row["sum_amount"])
        for row in reference["sum_amount_by_region_and_created_month"]
    }
    assert {(region, month[:7]): float(revenue) for region, month, revenue in view} == months
    by_status = shop.query(client, "select status, orders from shop.orders_by_status")
    assert {status: int(orders) for status, orders in by_status} == reference["count_by_status"]
    customers = shop.query(client, "select sum(customers) from shop.customers_by_region_and_tier")
    assert customers[0][0] == summary["tables"]["customers"]["live_rows"]


def history_sql(table: str, ends: list[int]) -> str:
    """A table as it was after each run, which ended with these batches, as JSON text."""
    ledger = f"shop.versioned_collapsing_ledger where model = '{table}' and status = 'applied'"
    columns = ", ".join(f"toString({column})" for column in shop.TABLES[table])
    return " union all ".join(
        f"select {end} as batch, toJSONString([{columns}]) as values from "
        f"{{{{ as_of(ref('{table}'), at=\"(select at from {ledger} order by at limit 1 offset {run})\") }}}}"
        for run, end in enumerate(ends)
    )


def assert_history_equals_postgresql(table: str, ends: list[int], outcome: Outcome, landing: Path) -> None:
    columns = shop.TABLES[table]
    found: dict[int, list[tuple[object, ...]]] = {end: [] for end in ends}
    for row in json.loads(outcome.output[outcome.output.index("{\n") :])["show"]:
        values = zip(columns, json.loads(row["values"]), strict=True)
        found[row["batch"]].append(tuple(_parsed(columns[name], text) for name, text in values))
    for end in ends:
        landed = shop_marts.landed_rows(table, end, landing).values()
        expected = [tuple(parse(row[name]) for name, parse in columns.items()) for row in landed]
        assert sorted(found[end], key=repr) == sorted(expected, key=repr), (table, end)


def _parsed(parse: Callable[[str], Any], text: str | None) -> object:
    """A value as ClickHouse shows it; a time without a zone is in UTC."""
    if text is None:
        return None
    is_time = parse is shop.TABLES["orders"]["updated_at"]
    return parse(f"{text}+00:00" if is_time else text)


def applied_batches(client: Client, table: str) -> list[list[int]]:
    query = (
        "select batches.batch from shop.versioned_collapsing_ledger "
        f"where model = '{table}' and status = 'applied' order by at"
    )
    return [list(batches) for (batches,) in shop.query(client, query)]


def assert_all_succeeded(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        assert outcome.success, outcome.why()


def test_two_runs_and_one_without_new_batches(tmp_path: Path) -> None:
    """Batches 1 to 10; 11 to 20, by plain commands; then everything again, which changes nothing."""
    home = tmp_path
    assert_all_succeeded(dbt(home, ["run", *variables(through_batch="000010")]))
    with shop.clickhouse(home) as client:
        assert_tables_equal_postgresql(client, 10)
        assert_kept_marts_equal_postgresql(client, 10)

    outcomes = dbt(home, ["build"], ["source", "freshness"], ["docs", "generate"])
    assert_all_succeeded(outcomes)
    said = outcomes[0].nodes
    assert said["revenue_by_customer_region_and_tier_live"].message == "added the changes of customers and orders"
    assert said["items_by_order_status_live"].message == "added the changes of order_items and orders"
    with shop.clickhouse(home) as client:
        assert_tables_equal_postgresql(client, 20)
        assert_marts_agree(client)
        assert applied_batches(client, "orders") == [[*range(1, 11)], [*range(11, 21)]]

    before = stored_rows(home)
    log = home / "logs" / "spark.log"
    log.unlink(missing_ok=True)
    outcomes = dbt(home, ["run"])
    assert not log.exists(), "Spark was started"
    assert_all_succeeded(outcomes)
    assert outcomes[0].nodes["orders"] == ("success", "no new batches: nothing to change")
    assert outcomes[0].nodes["orders_changes"] == ("success", "no new batches")
    assert outcomes[0].nodes["order_amounts_live"] == ("success", "nothing has changed")
    assert stored_rows(home) == before


def stored_rows(home: Path) -> list[tuple[object, ...]]:
    """The number and a checksum of the rows of each table, the ledger and the quarantine."""
    with shop.clickhouse(home) as client:
        return [
            shop.query(client, f"select count(), sum(cityHash64(*)) from shop.{table}")[0]
            for table in (*shop.TABLES, "versioned_collapsing_ledger", "cdc_quarantine")
        ]


def assert_landed_rows_are_postgresqls(table: str, batch: int, data: Path) -> None:
    """The landed events, from which the marts are computed for every batch, come to PostgreSQL's own rows."""
    landed = [
        tuple(parse(row[name]) for name, parse in shop.TABLES[table].items())
        for row in shop_marts.landed_rows(table, batch, data / "landing").values()
    ]
    assert sorted(landed, key=repr) == sorted(shop.expected_rows(table, batch, data / "expected"), key=repr)


@pytest.mark.parametrize("table", shop.TABLES)
def test_landed_events_come_to_the_rows_of_postgresql(table: str) -> None:
    for batch in (10, 20):
        assert_landed_rows_are_postgresqls(table, batch, shop.DATA)


@dataclass(frozen=True)
class Stream:
    """The shop's data, the number of its batches, and those after which PostgreSQL's rows are known."""

    data: Path
    batches: int
    compared: Sequence[int]


@pytest.fixture
def stream(tmp_path: Path, is_exhaustive: bool) -> Stream:
    """A stream that is made anew, with other rows and other races; the one of the repository, if exhaustive."""
    if is_exhaustive:
        return Stream(shop.DATA, 20, (10, 20))
    size = Size(customers=60, orders=90, transactions=150, batches=3, compared=(2, 3), incremental=2)
    make(tmp_path / "data", random.randrange(10**6), size)
    return Stream(tmp_path / "data", size.batches, size.compared)


def test_one_batch_at_a_time_and_every_file_twice_far_from_greenwich(tmp_path: Path, stream: Stream) -> None:
    landing = tmp_path / "landing"
    shutil.copytree(stream.data / "landing", landing)
    for file in sorted(landing.rglob("*.json.gz")):
        shutil.copy(file, file.with_name(f"again-{file.name}"))
    ends = list(range(1, stream.batches + 1))
    expected = stream.data / "expected"
    show = ["show", "--output", "json", "--limit", "-1", "--inline"]
    commands = []
    for end in ends:
        until = variables(landing_path=str(landing), through_batch=end)
        commands.append(["run", "--exclude", "cdc_quarantine_changes+", *until])
        commands.append([*show, shop_marts.MARTS_SQL, *until])
    commands += ([*show, history_sql(table, ends)] for table in shop.TABLES)
    outcomes = dbt(tmp_path / "home", *commands, zone="Asia/Kolkata")
    assert_all_succeeded(outcomes)
    for end, outcome in zip(ends, outcomes[1 : 2 * len(ends) : 2], strict=True):
        assert shown_marts(outcome) == shop_marts.expected_marts(end, stream.data / "landing"), end
    for table, outcome in zip(shop.TABLES, outcomes[2 * len(ends) :], strict=True):
        assert_history_equals_postgresql(table, ends, outcome, stream.data / "landing")
        for end in stream.compared:
            assert_landed_rows_are_postgresqls(table, end, stream.data)
    with shop.clickhouse(tmp_path / "home") as client:
        assert_tables_equal_postgresql(client, stream.batches, expected)
        assert_marts_agree(client, stream.batches, stream.data)
        assert applied_batches(client, "orders") == [[end] for end in ends]
        duplicates: dict[str, int] = dict(
            shop.query(
                client,
                "select model, sum(duplicates) from shop.versioned_collapsing_ledger "
                "where status = 'applied' group by model",
            )
        )
        for table, counts in shop.summary(expected)["tables"].items():
            # Each event came once more; redelivered events of older batches count as late.
            assert duplicates[table] >= counts["distinct_events"]
