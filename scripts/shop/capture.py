"""Lands what Debezium captures, batch by batch.

Each batch ends with a marker: a transaction that waits until nobody writes, and records what the tables hold then. So
it is known what a table must hold once it has applied exactly the batches up to that one.
"""

from __future__ import annotations

import base64
import gzip
import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from scripts.debezium.engine import Debezium, Engine, Record
from scripts.debezium.postgres import Postgres

NAME = "shop"
WRITERS = 22  # advisory lock: the writers share it, the marker has it alone
PATIENCE = 120  # seconds for a marker to come through Debezium
KEYS = {"customers": ("customer_id",), "orders": ("order_id",), "order_items": ("order_id", "line_no")}
TABLES = tuple(KEYS)
# Columns that are quoted in copies, so that spaces are kept and null differs from an empty text.
TEXTS = {"customers": "name, email", "orders": "note", "order_items": "sku"}
# Debezium's own settings, without PostgreSQL's address. All others have Debezium's defaults.
SETTINGS = {
    "name": NAME,
    "topic.prefix": NAME,
    "table.include.list": ",".join(f"public.{table}" for table in (*TABLES, "customers_archive")),
    "publication.autocreate.mode": "filtered",
    "signal.data.collection": "public.signals",
    "decimal.handling.mode": "string",  # 12.50 instead of base64
    "skipped.operations": "none",  # by default Debezium sends no truncates
    "tombstones.on.delete": "false",  # they serve only Kafka's compaction
    "value.converter.schemas.enable": "false",  # otherwise each line has the types of all columns
    "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
    "poll.interval.ms": "50",
    # Two tables in one topic, which the argument `table` of parse_debezium separates.
    "transforms": "route",
    "transforms.route.type": "io.debezium.transforms.ByLogicalTableRouter",
    "transforms.route.topic.regex": r"(.*)\.customers_archive",
    "transforms.route.topic.replacement": "$1.customers",
}
# For each table, the figures to compare: rows, an amount, and a number that depends on every value of every row.
# ClickHouse computes the same in `live_cdc/comparison.py`.
FIGURES = {
    "customers": (
        "credit_limit",
        "concat_ws('|', customer_id, name, email, region, tier, (credit_limit * 100)::bigint)",
    ),
    "orders": ("amount", "concat_ws('|', order_id, customer_id, region, status, (amount * 100)::bigint, items, note)"),
    "order_items": (
        "quantity * unit_price",
        "concat_ws('|', order_id, line_no, sku, quantity, (unit_price * 100)::bigint)",
    ),
}


@dataclass(frozen=True)
class Figures:
    """What a table holds."""

    rows: int
    amount: Decimal
    fingerprint: int


@dataclass(frozen=True)
class Batch:
    """A batch: its number, the LSN of its marker, what each table holds there, and its lines."""

    number: int
    lsn: int
    figures: dict[str, Figures]
    lines: dict[str, list[str]]
    events: Counter[str]


class Capture:
    """Debezium on the shop.

    Args:
        postgres: the source of the changes.
        debezium: the JVM.
    """

    def __init__(self, postgres: Postgres, debezium: Debezium) -> None:
        self._postgres = postgres
        self._number = 0
        self._pending: list[Record] = []
        self._news = threading.Condition()
        settings = {**postgres.connector(NAME), **SETTINGS}
        self._engine: Engine = debezium.start(settings, self._take)

    @property
    def has_begun(self) -> bool:
        """Whether something has been captured, so that the snapshot is under way."""
        self._check()
        return self._number > 0 or bool(self._pending)

    def stop(self) -> None:
        """Stop Debezium."""
        self._engine.stop()

    def batch(self, copies: Mapping[str, Path] | None = None) -> Batch:
        """What has been committed since the last batch.

        Args:
            copies: by table, the CSV file into which to copy its rows as they are at the end of the batch.

        Raises:
            RuntimeError: Debezium has ended, or does not send the marker.
        """
        end = time.monotonic() + PATIENCE
        while not self.has_begun and time.monotonic() < end:  # otherwise Debezium would not see the marker
            time.sleep(0.1)
        self._number += 1
        self._postgres.query(_marker_sql(self._number, copies or {}))
        records, marker = self._up_to_marker()
        lines: dict[str, list[str]] = defaultdict(list)
        events: Counter[str] = Counter()
        for record in records:
            table = record.topic.removeprefix(f"{NAME}.public.")
            if table in TABLES and record.value:
                lines[table].append(record.value)
                events[json.loads(record.value)["op"]] += 1
        content = json.loads(base64.b64decode(marker["message"]["content"]))
        figures = {
            table: Figures(rows, Decimal(amount), int(fingerprint))
            for table, (rows, amount, fingerprint) in content["figures"].items()
        }
        return Batch(self._number, marker["source"]["lsn"], figures, lines, events)

    def _take(self, records: Sequence[Record]) -> None:
        with self._news:
            self._pending += records
            self._news.notify_all()

    def _up_to_marker(self) -> tuple[list[Record], Any]:
        end = time.monotonic() + PATIENCE
        seen = 0
        with self._news:
            while time.monotonic() < end:
                for place in range(seen, len(self._pending)):
                    record = self._pending[place]
                    if record.topic == f"{NAME}.message" and record.value:
                        found = self._pending[:place]
                        del self._pending[: place + 1]
                        return found, json.loads(record.value)
                seen = len(self._pending)
                self._check()
                self._news.wait(1)
        raise RuntimeError("Debezium: the marker is not in the changes")

    def _check(self) -> None:
        if self._engine.error:
            raise RuntimeError(f"Debezium has ended: {self._engine.error}")


def land(
    lines: Mapping[str, Sequence[str]], number: int, landing: Path, files: Mapping[str, int] | None = None
) -> None:
    """Write a batch into the landing zone. Each table's part appears at once, complete.

    Args:
        files: the number of files of a table, if not one.
    """
    for table, of_table in lines.items():
        (landing / table).mkdir(parents=True, exist_ok=True)
        draft = landing / f".{table}"
        draft.mkdir()
        count = (files or {}).get(table, 1)
        for file in range(count):
            text = "".join(f"{line}\n" for line in of_table[file::count])
            with gzip.GzipFile(draft / f"part-{file:05d}.json.gz", "wb", mtime=0) as packed:
                packed.write(text.encode())
        draft.rename(landing / table / f"batch={number:06d}")


def _marker_sql(number: int, copies: Mapping[str, Path]) -> str:
    figures = ", ".join(
        f"'{table}', (select json_build_array(count(*), coalesce(sum({amount}), 0)::text, "
        f"coalesce(sum(('x' || left(md5({text}), 8))::bit(32)::bigint), 0)::text) from {table})"
        for table, (amount, text) in FIGURES.items()
    )
    written = "".join(
        f"\\copy (select * from {table} order by {', '.join(KEYS[table])}) to '{path}' csv header "
        f"force quote {TEXTS[table]}\n"
        for table, path in copies.items()
    )
    return f"""
        begin;
        select pg_advisory_xact_lock({WRITERS});
        select pg_logical_emit_message(
          true, '{NAME}', json_build_object('number', {number}, 'figures', json_build_object({figures}))::text
        );
{written}        commit;
    """
