"""Unusable lines, files that change, and tables that would lack rows."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support import shop
from tests.support.commands import Outcome, dbt, variables

FILE = "orders/batch=000002/part-00000.json.gz"
BATCHES = (1, 2, 3)
GOOD = {
    "order_id": 1,
    "customer_id": 2,
    "region": "west",
    "status": "paid",
    "amount": "1.00",
    "items": 1,
    "note": None,
    "created_at": "2025-01-23T04:12:25.683182Z",
    "updated_at": "2025-01-23T04:12:25.683182Z",
}


def envelope(op: str = "u", lsn: Any = 99999999999, **after: Any) -> dict[str, Any]:
    source = {"connector": "postgresql", "schema": "public", "table": "orders", "lsn": lsn, "sequence": '["8","8"]'}
    return {"before": None, "after": {**GOOD, **after}, "source": source, "op": op}


@dataclass(frozen=True)
class BrokenLine:
    text: str
    reason: str


# fmt: off
BROKEN_LINES = [
    BrokenLine(json.dumps(envelope())[:-30], "malformed JSON"),
    BrokenLine("no JSON at all", "malformed JSON"),
    BrokenLine("no JSON at all", "malformed JSON"),
    BrokenLine(json.dumps({**envelope(), "op": None}), "op is missing"),
    BrokenLine(json.dumps(envelope(op="x")), "unknown op x"),
    BrokenLine(json.dumps({**envelope(), "after": None}), "after image is missing"),
    BrokenLine(json.dumps(envelope(op="d")), "before image is missing"),
    BrokenLine(json.dumps({**envelope(), "source": None}), "source.connector is missing"),
    BrokenLine(json.dumps(envelope(lsn="0/16B")), "source.lsn does not fit bigint"),
    BrokenLine(json.dumps(envelope(lsn=1.5)), "source.lsn does not fit bigint"),
    BrokenLine(json.dumps(envelope(order_id=None)), "key order_id is null"),
    BrokenLine(json.dumps(envelope(order_id="A1")), "order_id does not fit bigint"),
    BrokenLine(json.dumps(envelope(items=2**63)), "items does not fit bigint"),
    BrokenLine(json.dumps(envelope(items=1.5)), "items does not fit bigint"),
    BrokenLine(json.dumps(envelope(amount="12345678901.00")), "amount does not fit decimal(12,2)"),
    BrokenLine(json.dumps(envelope(amount="1.239")), "amount does not fit decimal(12,2)"),
    BrokenLine(json.dumps(envelope(updated_at="yesterday")), "updated_at does not fit timestamp"),
    BrokenLine(json.dumps(envelope(region=None)), "region is null"),
]
# fmt: on
SILENT_LINES = ["", "   ", "null"]  # they mean nothing, and are skipped


def folded(landing: Path, table: str) -> list[shop.Row]:
    """The live rows, computed from the usable lines of the landing zone by a plain loop."""
    columns = shop.TABLES[table]
    keys = ["order_id", "line_no"] if table == "order_items" else [next(iter(columns))]
    latest: dict[tuple[Any, ...], tuple[tuple[int, ...], dict[str, Any] | None]] = {}
    for file in sorted((landing / table).rglob("*.json.gz")):
        for line in gzip.decompress(file.read_bytes()).decode().split("\n"):
            if line in {broken.text for broken in BROKEN_LINES} or not line.startswith("{"):
                continue
            event = json.loads(line)
            if event["source"]["table"] != table:
                continue
            image = event["before"] if event["op"] == "d" else event["after"]
            key = tuple(image[name] for name in keys)
            if key not in latest or shop.position(event) > latest[key][0]:
                latest[key] = (shop.position(event), event["after"])
    return sorted(
        (
            tuple(None if row[name] is None else parse(str(row[name])) for name, parse in columns.items())
            for _, row in latest.values()
            if row is not None
        ),
        key=repr,
    )


@dataclass(frozen=True)
class Run:
    home: Path
    landing: Path
    lines: list[str]
    outcomes: list[Outcome]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("broken")
    landing = folder / "landing"
    for table in shop.TABLES:
        for batch in BATCHES:
            name = f"{table}/batch={batch:06d}"
            shutil.copytree(shop.LANDING / name, landing / name)
    with gzip.open(landing / FILE, "rt", encoding="utf-8") as file:
        lines = file.read().removesuffix("\n").split("\n")  # splitlines() would also split at U+2028
    spread = [broken.text for broken in BROKEN_LINES] + SILENT_LINES
    for position, text in enumerate(spread):
        lines.insert(position * 7, text)
    with gzip.open(landing / FILE, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    outcomes = dbt(
        folder / "home",
        ["run", *variables(landing_path=str(landing), through_batch=1)],
        ["run", *variables(landing_path=str(landing))],
    )
    return Run(folder / "home", landing, lines, outcomes)


def test_the_runs_succeed(run: Run) -> None:
    assert all(outcome.success for outcome in run.outcomes), run.outcomes


def test_broken_lines_are_in_quarantine_with_place_and_reason(run: Run) -> None:
    with shop.clickhouse(run.home) as client:
        rows = shop.query(
            client,
            "select source_table, batch, file, line_number, reason, raw_line "
            "from shop.cdc_quarantine final where _sign = 1 order by line_number",
        )
    expected = [
        ("orders", 2, FILE, position * 7 + 1, broken.reason, broken.text)
        for position, broken in enumerate(BROKEN_LINES)
    ]
    assert [tuple(row) for row in rows] == expected
    assert all(run.lines[row[3] - 1] == row[5] for row in rows)


def test_the_report_has_them_by_reason_and_day(run: Run) -> None:
    (printed,) = dbt(run.home, ["--quiet", "run-operation", "report_data", "--no-write-json"])
    tables = {table["model"]: table for table in json.loads(printed.output)["tables"]}
    found = tables.pop("cdc_quarantine")["quarantined"]
    assert {row["why"]: row["n"] for row in found} == Counter(line.reason for line in BROKEN_LINES)
    today = datetime.now(UTC).date()
    assert {row["day"] for row in found} <= {str(today), str(today - timedelta(days=1))}
    assert {table["quarantined"] for table in tables.values()} == {None}


@pytest.mark.parametrize("table", shop.TABLES)
def test_broken_lines_change_nothing_else(run: Run, table: str) -> None:
    with shop.clickhouse(run.home) as client:
        live = sorted(shop.live_rows(client, table), key=repr)
    assert live == folded(run.landing, table)


def test_a_file_that_changes_in_an_applied_batch_is_an_error_until_taken_again(run: Run) -> None:
    """A table whose change set does not begin at the first batch is not built either."""
    rebalanced = [line for line in run.lines if line not in SILENT_LINES]
    rebalanced[rebalanced.index("no JSON at all")] = json.dumps(envelope(order_id=424242))
    with gzip.open(run.landing / FILE, "wt", encoding="utf-8") as file:
        file.write("\n".join(rebalanced) + "\n")
    landing = {"landing_path": str(run.landing)}
    plain, again, alone = dbt(
        run.home,
        ["run", *variables(**landing)],
        ["run", "--select", "orders_changes+", *variables(**landing, reprocess_batches=[2])],
        ["run", "--select", "orders+", "--full-refresh", *variables(**landing)],
    )
    status, message = plain.nodes["orders_changes"]
    assert status == "error"
    assert "Files of applied batches have changed: 2" in message
    assert "dbt run --select orders_changes+ --vars '{reprocess_batches: [2]}'" in message
    assert plain.nodes["customers"][0] == "success"

    unusable = len(BROKEN_LINES) - 1
    assert again.nodes["orders_changes"] == ("success", f"batch 2: {unusable} unusable lines")
    assert again.nodes["orders"][0] == "success"
    with shop.clickhouse(run.home) as client:
        orders = "select count() from shop.orders final where _sign = 1 and order_id = 424242"
        assert shop.query(client, orders)[0] == (1,)
        quarantined = shop.query(
            client, "select line_number, raw_line from shop.cdc_quarantine final where _sign = 1 order by 1"
        )
    texts = {broken.text for broken in BROKEN_LINES}
    still_broken = [(i, line) for i, line in enumerate(rebalanced, start=1) if line in texts]
    assert [tuple(row) for row in quarantined] == still_broken

    status, message = alone.nodes["orders"]
    assert status == "error"
    assert "does not begin at the first batch" in message
