"""The shop's true state, as PostgreSQL had it, and the tables that dbt built, for comparison."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import clickhouse_connect
from clickhouse_connect.driver.client import Client

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "data"
EXPECTED = DATA / "expected"
LANDING = DATA / "landing"

Row = tuple[Any, ...]


def _timestamp(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)


def _optional_text(text: str) -> str | None:
    return text or None


Columns = dict[str, Callable[[str], Any]]

TABLES: dict[str, Columns] = {
    "customers": {
        "customer_id": int,
        "name": str,
        "email": _optional_text,
        "region": str,
        "tier": str,
        "credit_limit": Decimal,
        "updated_at": _timestamp,
    },
    "orders": {
        "order_id": int,
        "customer_id": int,
        "region": str,
        "status": str,
        "amount": Decimal,
        "items": int,
        "note": _optional_text,
        "created_at": _timestamp,
        "updated_at": _timestamp,
    },
    "order_items": {
        "order_id": int,
        "line_no": int,
        "sku": str,
        "quantity": int,
        "unit_price": Decimal,
        "updated_at": _timestamp,
    },
}


def expected_rows(table: str, batch: int, reference: Path = EXPECTED) -> list[Row]:
    """The rows of ``table`` in PostgreSQL after ``batch``, ordered by key. The shop has them for batches 10 and 20."""
    columns = TABLES[table]
    with (reference / f"batch_{batch}" / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return [tuple(parse(row[name]) for name, parse in columns.items()) for row in csv.DictReader(file)]


def position(event: Mapping[str, Any]) -> tuple[int, ...]:
    """The position of an event of the shop in the order of commits.

    Debezium sends the LSN of the previous commit in `source.sequence`. The first transaction after the snapshot has
    none: it comes after the snapshot, although its own LSN may be lower. Rows read by an incremental snapshot have no
    LSN.
    """
    source = event["source"]
    committed, _ = json.loads(source["sequence"])
    if event["op"] == "r" and source["snapshot"] != "incremental":
        return (0, 0, 0, 0)
    return (1, int(committed or 0), source["lsn"] or 0, event["op"] != "d")


def summary(reference: Path = EXPECTED) -> dict[str, Any]:
    """Counts and totals of the final state."""
    (path,) = reference.glob("*/summary.json")
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


@contextmanager
def clickhouse(home: Path) -> Iterator[Client]:
    """A client for the embedded ClickHouse of ``home``, which no other process may be using."""
    client = clickhouse_connect.get_client(
        interface="chdb", path=str(home / "clickhouse"), settings={"session_timezone": "UTC"}
    )
    client.server_tz = UTC
    try:
        yield client
    finally:
        client.close()


@contextmanager
def clickhouse_server(address: tuple[str, int], password: str) -> Iterator[Client]:
    """A client for a ClickHouse server."""
    client = clickhouse_connect.get_client(
        host=address[0], port=address[1], password=password, autogenerate_session_id=False
    )
    try:
        yield client
    finally:
        client.close()


def query(client: Client, sql: str) -> list[Row]:
    """The rows of a query."""
    return [tuple(row) for row in client.query(sql).result_rows]


def live_rows(client: Client, table: str) -> list[Row]:
    """The live rows by FINAL, ordered by key."""
    columns = ", ".join(TABLES[table])
    return query(client, f"select {columns} from shop.{table} final where _sign = 1 order by all")


def net_rows(client: Client, table: str) -> list[Row]:
    """The live rows by sums of the sign over all stored rows, merged or not, ordered by key.

    Raises:
        AssertionError: the signs of a row do not sum to one.
    """
    columns = ", ".join(TABLES[table])
    rows = query(
        client,
        f"select {columns}, sum(_sign) as net from shop.{table} "
        f"group by {columns}, _version having net <> 0 order by all",
    )
    assert all(row[-1] == 1 for row in rows), [row for row in rows if row[-1] != 1][:3]
    return [row[:-1] for row in rows]


def rows_of_live_view(client: Client, table: str) -> list[Row]:
    """The rows of `<table>_live`, ordered by key."""
    return query(client, f"select {', '.join(TABLES[table])} from shop.{table}_live order by all")
