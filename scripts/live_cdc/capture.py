"""Writes what PostgreSQL has committed into the landing zone, batch by batch, as Debezium writes it.

Each batch ends with a marker: a transaction that waits until nobody writes, and says what the tables hold then. So it
is known what a table must hold once it has applied a batch, and no more.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from scripts.debezium.postgres import Postgres

SLOT = "live_cdc"
WRITERS = 22  # advisory lock: each writer shares it, the marker has it alone
KEYS = {
    "customers": ("customer_id",),
    "orders": ("order_id",),
    "order_items": ("order_id", "line_no"),
}
TABLES = tuple(KEYS)
# Of each table what is compared: rows, an amount, and a number that depends on every value of every row.
# ClickHouse computes the same in `comparison.py`.
FIGURES = {
    "customers": (
        "credit_limit",
        "concat_ws('|', customer_id, name, email, region, tier, (credit_limit * 100)::bigint)",
    ),
    "orders": (
        "amount",
        "concat_ws('|', order_id, customer_id, region, status, (amount * 100)::bigint, items, note)",
    ),
    "order_items": (
        "quantity * unit_price",
        "concat_ws('|', order_id, line_no, sku, quantity, (unit_price * 100)::bigint)",
    ),
}
OPTIONS = ("format-version", "2", "include-lsn", "true", "include-xids", "true")


@dataclass(frozen=True)
class Figures:
    """What a table holds."""

    rows: int
    amount: Decimal
    fingerprint: int


@dataclass(frozen=True)
class Batch:
    """A batch that has landed: its number, the LSN of its marker, and what each table holds there."""

    number: int
    lsn: int
    figures: dict[str, Figures]
    events: Counter[str]


class Capture:
    """Lands batches.

    Args:
        postgres: where the changes are.
        landing: folder of the landing zone.
    """

    def __init__(self, postgres: Postgres, landing: Path) -> None:
        self._postgres = postgres
        self._landing = landing
        self._number = 0
        for table in TABLES:
            (landing / table).mkdir(parents=True)
        postgres.query(f"select pg_create_logical_replication_slot('{SLOT}', 'wal2json')")

    def land(self) -> Batch:
        """Land what has been committed since the last batch."""
        self._postgres.query(_marker_sql())
        options = ", ".join(f"'{option}'" for option in OPTIONS)
        changes = self._postgres.query(
            f"select data from pg_logical_slot_peek_changes('{SLOT}', null, null, {options})"
        )
        before, marker, end = up_to_marker(map(_parsed, changes))
        lines: dict[str, list[str]] = defaultdict(list)
        events: Counter[str] = Counter()
        for event in (event for change in before for event in events_of(change)):
            lines[event["source"]["table"]].append(json.dumps(event, ensure_ascii=False))
            events[event["op"]] += 1
        self._number += 1
        self._write(lines)
        # Only now: if this process dies before, the next batch has these changes again.
        self._postgres.query(f"select pg_replication_slot_advance('{SLOT}', '{end}')")
        figures = {
            table: Figures(rows, Decimal(amount), int(fingerprint))
            for table, (rows, amount, fingerprint) in json.loads(marker["content"]).items()
        }
        return Batch(self._number, _number_of(marker["lsn"]), figures, events)

    def _write(self, lines: dict[str, list[str]]) -> None:
        """Each table's part of the batch appears at once, complete."""
        for table, of_table in lines.items():
            draft = self._landing / f".{table}"
            draft.mkdir()
            with gzip.open(draft / "part-00000.json.gz", "wt", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in of_table)
            draft.rename(self._landing / table / f"batch={self._number:06d}")


def up_to_marker(changes: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], Any, str]:
    """The changes before the marker, the marker, and the LSN after its transaction."""
    before: list[dict[str, Any]] = []
    marker: Any = None
    for change in changes:
        if change["action"] == "M" and change["prefix"] == SLOT:
            marker = change
        elif marker is None:
            before.append(change)
        elif change["action"] == "C":
            return before, marker, change["nextlsn"]
    raise RuntimeError("PostgreSQL: the marker is not in the changes")


def events_of(change: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A change of wal2json as Debezium's events, of a table with REPLICA IDENTITY FULL. An update
    that changes the key is a delete and an insert."""
    action = change["action"]
    if action not in "IUDT":
        return
    source = {
        "connector": "postgresql",
        "schema": change["schema"],
        "table": change["table"],
        "txId": change["xid"],
        "lsn": _number_of(change["lsn"]),
    }
    before = _image(change.get("identity", ()))
    after = _image(change.get("columns", ()))
    if action == "T":
        yield _event("t", None, None, source)
    elif action == "D":
        yield _event("d", before, None, source)
    elif action == "I":
        yield _event("c", None, after, source)
    else:
        # A long text that an update does not carry is in the row before it.
        after = {**before, **after}
        is_moved = any(after[name] != before[name] for name in KEYS[change["table"]])
        if is_moved:
            yield _event("d", before, None, source)
            yield _event("c", None, after, source)
        else:
            yield _event("u", before, after, source)


def _event(op: str, before: Any, after: Any, source: dict[str, Any]) -> dict[str, Any]:
    return {"before": before, "after": after, "source": source, "op": op}


def _image(columns: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {column["name"]: _value(column) for column in columns}


def _value(column: dict[str, Any]) -> Any:
    value = column["value"]
    if value is not None and column["type"].startswith("timestamp"):
        return value.replace(" ", "T").replace("+00", "Z")
    return value


def _parsed(line: str) -> dict[str, Any]:
    """Numbers with a point stay texts, as Debezium sends them with `decimal.handling.mode=string`."""
    change: dict[str, Any] = json.loads(line, parse_float=str)
    return change


def _number_of(lsn: str) -> int:
    high, low = lsn.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def _marker_sql() -> str:
    figures = ", ".join(
        f"'{table}', (select json_build_array(count(*), coalesce(sum({amount}), 0)::text, "
        f"coalesce(sum(('x' || left(md5({text}), 8))::bit(32)::bigint), 0)::text) from {table})"
        for table, (amount, text) in FIGURES.items()
    )
    return f"""
        begin;
        select pg_advisory_xact_lock({WRITERS});
        select pg_logical_emit_message(true, '{SLOT}', json_build_object({figures})::text);
        commit;
    """
