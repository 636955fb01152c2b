"""An endless stream of the shop's change events: Debezium's for PostgreSQL, as in data/landing."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]

SHARES = {"customers": 0.06, "orders": 0.44, "order_items": 0.5}  # of the events of a batch
KEYS = {"customers": ("customer_id",), "orders": ("order_id",), "order_items": ("order_id", "line_no")}
CHANGES = {"c": 0.3, "u": 0.6, "d": 0.1}
REGIONS = ("north", "south", "east", "west", "islands")
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
PAUSE = timedelta(seconds=20)  # between two events


class ShopEvents:
    """The shop behind the events. It starts empty."""

    def __init__(self) -> None:
        self._chance = random.Random(1)
        self._rows: dict[str, dict[tuple[int, ...], Row]] = {table: {} for table in SHARES}
        self._number = 0  # of the last event

    def counts(self) -> dict[str, int]:
        """How many rows each table has."""
        return {table: len(rows) for table, rows in self._rows.items()}

    def write(self, folders: Mapping[str, Path], events: int) -> None:
        """Write a batch: a file for each table, in a folder that is made."""
        for table, folder in folders.items():
            lines = [json.dumps(event) for event in self._batch(table, round(events * SHARES[table]))]
            folder.mkdir()
            with gzip.open(folder / "part-00000.json.gz", "wt", encoding="utf-8") as file:
                file.write("\n".join(lines))

    def _batch(self, table: str, events: int) -> Iterator[Row]:
        rows = self._rows[table]
        keys = list(rows)
        for _ in range(events):
            [change] = self._chance.choices(list(CHANGES), list(CHANGES.values()))
            key = self._chance.choice(keys) if keys else (0,)
            before = rows.get(key)
            if change == "c" or before is None:
                change, before = "c", None
                key = (self._number, self._number % 5 + 1)[: len(KEYS[table])]
                keys.append(key)
            after = None if change == "d" else self._row(table, key, before)
            if after is None:
                del rows[key]
            else:
                rows[key] = after
            yield self._event(table, change, before, after)

    def _event(self, table: str, change: str, before: Row | None, after: Row | None) -> Row:
        self._number += 1
        milliseconds = 1_740_000_000_000 + self._number
        return {
            "before": before,
            "after": after,
            "source": {
                "version": "2.7.0.Final",
                "connector": "postgresql",
                "name": "shop",
                "ts_ms": milliseconds,
                "snapshot": "false",
                "db": "shop",
                "sequence": f'["{100 * self._number - 40}","{100 * self._number}"]',
                "schema": "public",
                "table": table,
                "txId": self._number,
                "lsn": 100 * self._number,
                "xmin": None,
            },
            "op": change,
            "ts_ms": milliseconds,
            "transaction": None,
        }

    def _row(self, table: str, key: tuple[int, ...], before: Row | None) -> Row:
        chance, number = self._chance, self._number
        at = f"{BEGIN + number * PAUSE:%Y-%m-%dT%H:%M:%S.757823Z}"
        amount = f"{chance.randrange(10**6) / 100:.2f}"
        others: Row
        if table == "customers":
            others = {
                "name": f"Customer {number}",
                "email": f"c{number}@example.com" if number % 3 else None,
                "region": chance.choice(REGIONS),
                "tier": chance.choice(("bronze", "silver", "gold", "platinum")),
                "credit_limit": amount,
                "updated_at": at,
            }
        elif table == "orders":
            others = {
                "customer_id": chance.randrange(1, 2000),
                "region": chance.choice(REGIONS),
                "status": chance.choice(("pending", "paid", "shipped", "delivered", "refunded")),
                "amount": amount,
                "items": chance.randrange(1, 6),
                "note": f"leave at door {number}" if number % 4 == 0 else None,
                "created_at": before["created_at"] if before else at,
                "updated_at": at,
            }
        else:
            others = {
                "sku": f"SKU-{chance.randrange(500):04d}",
                "quantity": chance.randrange(1, 9),
                "unit_price": amount,
                "updated_at": at,
            }
        return dict(zip(KEYS[table], key, strict=True)) | others
