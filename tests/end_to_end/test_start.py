"""The starter for files: what it writes builds, and passes its tests and the lint at once, whatever lands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.cli.start import main
from sqlfluff_plugin_versioned_collapsing.compiled import lint_manifest
from tests.support.commands import run_all
from tests.support.shop import REPOSITORY

Row = dict[str, Any]

# Debezium's envelopes of MySQL with the schema: decimals as bytes, dates as days, times as milliseconds.
FIELDS = [
    {"field": "id", "type": "int32"},
    {
        "field": "price",
        "type": "bytes",
        "name": "org.apache.kafka.connect.data.Decimal",
        "parameters": {"scale": "2", "connect.decimal.precision": "10"},
    },
    {"field": "day", "type": "int32", "name": "io.debezium.time.Date"},
    {"field": "at", "type": "int64", "name": "io.debezium.time.Timestamp"},
    {"field": "name", "type": "string"},
]
SCHEMA = {
    "type": "struct",
    "fields": [{"field": image, "type": "struct", "fields": FIELDS} for image in ("before", "after")],
}


def event(op: str, before: Row | None, after: Row | None, pos: int, table: str = "products") -> Row:
    source = {
        "connector": "mysql",
        "db": "shop",
        "table": table,
        "file": "binlog.000003",
        "pos": pos,
        "row": 0,
        "server_id": 1,
    }
    payload = {"op": op, "before": before, "after": after, "source": source, "ts_ms": 1}
    return {"schema": SCHEMA, "payload": payload}


def product(key: int, price: str, name: str | None) -> Row:
    return {"id": key, "price": price, "day": 20000, "at": 1700000000123, "name": name}


LANDED: dict[str, list[list[Row]]] = {
    "products": [
        [
            event("c", None, product(1, "AfQ=", "a"), 100),  # 5.00
            event("c", None, product(2, "A+g=", "b"), 200),
            event("u", product(1, "AfQ=", "a"), product(1, "ASw=", None), 300),  # 3.00
        ],
        # Another table in the same topic.
        [event("d", product(2, "A+g=", "b"), None, 400), event("c", None, {"id": 1, "cart": 7}, 500, "carts")],
    ],
    # Upserts without deletes: dates, times without a zone, decimals of several scales.
    "readings": [
        [
            {"sensor": "a", "value": 1.25, "at": "2025-01-01 10:00:00", "day": "2025-01-01"},
            {"sensor": "b", "value": 7, "at": "2025-01-01 10:00:00", "day": None},
        ],
        [{"sensor": "a", "value": 2.125, "at": "2025-01-02 10:00:00", "day": "2025-01-02"}],
    ],
    # A composite key, reserved words, integers above 64 bits, nested values, and deletes without a payload.
    "lines": [
        [
            {"invoice": 1, "line": 1, "order": "x", "group": 12345678901234567890, "select": {"a": [1]}, "rev": 1},
            {"invoice": 1, "line": 2, "order": "y", "group": 5, "select": None, "rev": 1, "gone": False},
        ],
        [{"invoice": 1, "line": 2, "rev": 2, "gone": True}],
    ],
    # Extracts of a whole table, with the numbers as CSV files have them.
    "prices": [
        [{"item": 1, "price": "1.50"}, {"item": 2, "price": "2.00"}, {"item": 3, "price": "3.00"}],
        [{"item": 1, "price": "1.75"}, {"item": 3, "price": "3.00"}],
    ],
}
# The later starts add tables to the project of the first one.
STARTS = (
    ("--tables", "products", "--kind", "debezium", "--key", "id", "--landing", "landing/products"),
    (
        *("--tables", "readings,lines", "--kind", "upserts", "--landing", "landing", "--is-deleted", "gone"),
        *("--key", "readings.sensor,lines.invoice,lines.line", "--version", "at,lines.rev"),
    ),
    (
        *("prices", "--kind", "extracts", "--landing", "landing/prices", "--key", "item"),
        *("--column", "price:decimal(9,2)"),
    ),
)
LIVE = {
    "select id, price, day, at, name from my_shop.products": [
        ["1", "3", "2024-10-04", "2023-11-14 22:13:20.123000", "\\N"]
    ],
    "select sensor, value, day, at from my_shop.readings": [
        ["a", "2.125", "2025-01-02", "2025-01-02 10:00:00.000000"],
        ["b", "7", "\\N", "2025-01-01 10:00:00.000000"],
    ],
    'select invoice, line, "order", "group", "select" from my_shop.lines': [
        ["1", "1", "x", "12345678901234567890", '{"a": [1]}']
    ],
    "select item, price, _version from my_shop.prices": [["1", "1.75", "2"], ["3", "3", "2"]],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("started") / "My shop"
    for name, batches in LANDED.items():
        for number, rows in enumerate(batches, 1):
            batch = folder / "landing" / name / f"batch={number:06d}"
            batch.mkdir(parents=True)
            (batch / "part-0.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for arguments in STARTS:
        assert main([*arguments, "--project-dir", str(folder), "--package", str(REPOSITORY)]) == 0
    return folder


def test_what_it_writes_builds_at_once(project: Path) -> None:
    environment = {n: text for n, text in os.environ.items() if n != "SPARK_CLICKHOUSE_HOME"}
    for outcome in run_all([["deps"], ["--no-use-colors", "build"]], project, environment):
        assert outcome.success, outcome.why()
    assert "WARN=0 ERROR=0 SKIP=0" in outcome.output
    for sql, rows in LIVE.items():
        query = f"{sql} final where _sign = 1 order by 1, 2"
        program = (
            "import sys; from chdb.session import Session; "
            "print(Session('.spark_clickhouse/clickhouse').query(sys.argv[1], 'TSV'), end='')"
        )
        shown = subprocess.run(
            [sys.executable, "-c", program, query], cwd=project, capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, shown.stderr[-4000:]
        assert [line.split("\t") for line in shown.stdout.splitlines()] == rows
    assert lint_manifest(project / "target" / "manifest.json") == []
