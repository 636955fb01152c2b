"""MySQL's envelopes, and values as Debezium encodes them."""

from __future__ import annotations

import base64
import random
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.change_sets.cases import EPOCH, Broken, Case, Line, at, compact, plain, scattered
from tests.support.change_set_project import Situation
from tests.support.oracle import Event, Oracle

COLUMNS = {
    "id": "bigint",
    "price": "decimal(30,4)",
    "rate": "decimal(9,3)",
    "day": "date",
    "made": "timestamp",
    "seen": "timestamp",
    "heard": "timestamp",
    "is_open": "boolean",
    "ratio": "double",
    "free": "decimal(38,6)",
    "small": "int",
    "digest": "binary",
}
ENCODINGS = {
    "price": "precise",
    "day": "epoch_days",
    "made": "epoch_millis",
    "seen": "epoch_micros",
    "heard": "epoch_nanos",
    "free": "precise",
    "digest": "base64",
}
TYPES = {
    "id": "Int64",
    "price": "Nullable(Decimal(30, 4))",
    "rate": "Nullable(Decimal(9, 3))",
    "day": "Nullable(Date32)",
    "made": "Nullable(DateTime64(6, 'UTC'))",
    "seen": "Nullable(DateTime64(6, 'UTC'))",
    "heard": "Nullable(DateTime64(6, 'UTC'))",
    "is_open": "Nullable(Bool)",
    "ratio": "Nullable(Float64)",
    "free": "Nullable(Decimal(38, 6))",
    "small": "Nullable(UInt8)",
    "digest": "Nullable(String)",
    "_version": "Int128",
}
MICROSECOND = timedelta(microseconds=1)


def precise(number: Decimal, scale: int) -> str:
    """Kafka Connect's Decimal: the unscaled number in as few bytes as possible."""
    unscaled = int(number.scaleb(scale))
    length = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return base64.b64encode(unscaled.to_bytes(length, "big", signed=True)).decode()


def encoded(row: dict[str, Any]) -> dict[str, Any]:
    """A row as an image has it."""
    if any(value is None for value in row.values()):
        return row
    micros = {name: (row[name] - EPOCH.replace(year=1970)) // MICROSECOND for name in ("made", "seen", "heard")}
    return {
        **row,
        "price": precise(row["price"], 4),
        "rate": float(row["rate"]),
        "day": (row["day"] - date(1970, 1, 1)).days,
        "made": micros["made"] // 1000,
        "seen": micros["seen"],
        "heard": micros["heard"] * 1000,
        "free": {"scale": 2, "value": precise(row["free"], 2)},
        "digest": base64.b64encode(row["digest"].encode()).decode(),
    }


def random_row(rng: random.Random, key: int, number: int) -> dict[str, Any]:
    size = 10 ** rng.randint(1, 29)
    return {
        "id": key,
        "price": Decimal(rng.randint(-size, size)).scaleb(-4),
        "rate": Decimal(rng.randint(-999999, 999999)).scaleb(-3),
        "day": date(1900, 1, 1) + timedelta(days=rng.randint(0, 146096)),
        "made": at(-rng.randint(0, 10**9)) + timedelta(milliseconds=number),
        "seen": at(rng.randint(0, 10**9)) + timedelta(microseconds=number),
        "heard": at(number) + timedelta(microseconds=number),
        "is_open": rng.random() < 0.5,
        "ratio": rng.random() * 10 ** rng.randint(-30, 30),
        "free": Decimal(rng.randint(-size, size)).scaleb(-2),
        "small": rng.randint(0, 255),
        "digest": rng.choice(["", "\0 \\ naïve", f"row {number}"]),
    }


def _null_row(key: int) -> dict[str, Any]:
    return {name: key if name == "id" else None for name in TYPES if name != "_version"}


def _update(source: Any, **fields: Any) -> str:
    row = {**encoded(random_row(random.Random(1), 1, 1)), **fields}
    return compact({"before": None, "after": row, **source, "op": "u"})


def binlog() -> Case:
    """File, position and row: the row decides within one event, and the file number comes before the position."""
    last = {"source": {"file": "mysql-bin.999999", "pos": 4, "row": 0}}

    def misplaced(**source: Any) -> str:
        return _update({"source": {**last["source"], **source}})

    # fmt: off
    broken: list[Line] = [
        Broken(misplaced(file=None), "source.file is missing"),
        Broken(misplaced(pos=None), "source.pos is missing"),
        Broken(misplaced(file="mysql-bin"), "source.file and source.pos are no position"),
        Broken(misplaced(pos=-1), "source.file and source.pos are no position"),
        Broken(misplaced(row=10**6), "source.file and source.pos are no position"),
        Broken(_update(last, price="12.50"), "price does not fit decimal(30,4)"),
        Broken(_update(last, price=precise(Decimal(10) ** 27, 4)), "price does not fit decimal(30,4)"),
        Broken(_update(last, price=precise(Decimal(2) ** 140, 4)), "price does not fit decimal(30,4)"),
        Broken(_update(last, free={"scale": 7, "value": "AQ=="}), "free does not fit decimal(38,6)"),
        Broken(_update(last, rate=0.12345), "rate does not fit decimal(9,3)"),
        Broken(_update(last, day="2025-01-01"), "day does not fit date"),
        Broken(_update(last, day=200000), "day is outside 1900-01-01 to 2299-12-31"),
        Broken(_update(last, made=2**63 - 1), "made does not fit timestamp"),
        Broken(_update(last, made=1.5), "made does not fit timestamp"),
        Broken(_update(last, seen=2**62), "seen is outside 1900-01-01 00:00:00Z to 2299-12-31 23:59:59.999999Z"),
        Broken(_update(last, heard=1234567), "heard does not fit timestamp"),
        Broken(_update(last, is_open=2), "is_open does not fit boolean"),
        Broken(_update(last).replace('"ratio":', '"ratio":1e999,"was":'), "ratio does not fit double"),
        Broken(_update(last, small=256), "small is outside 0 to 255"),
        Broken(_update(last, small=-1), "small is outside 0 to 255"),
        Broken(_update(last, digest="no base64?"), "digest does not fit binary"),
    ]
    # fmt: on
    rng = random.Random(5)
    table = Oracle()
    batches: dict[int, list[Line]] = {1: [], 2: []}
    for number in range(300):
        file, position, place = (9 + number // 100, 4 + number % 100 // 3 * 900_000_000, number % 100 % 3)
        source = {"file": f"mysql-bin.{file:06d}", "pos": position, "row": place}
        version = file * 10**19 + position * 10**7 + place * 10 + 1
        key = rng.randint(1, 25)
        row = random_row(rng, key, number) if number % 9 else _null_row(key)
        is_delete = key in table.live and rng.random() < 0.3
        payload = tuple(row.values())[1:]
        table.apply([Event(key, version, payload, is_deleted=is_delete)])
        images = {"before": encoded(row), "after": None} if is_delete else {"before": None, "after": encoded(row)}
        text = compact({**images, "source": source, "op": "d" if is_delete else "u"})
        batches[1 + number // 150].append(text)
    for lines in batches.values():
        rng.shuffle(lines)
    batches[2] = scattered(broken, batches[2], rng)
    return Case(
        Situation(
            "binlog",
            plain(
                f"parse_debezium(SOURCE, key=['id'], columns={COLUMNS}, encodings={ENCODINGS}, "
                f"ranges={{'small': [0, 255]}}, version='source.pos')"
            ),
            "one_change_per_key(EVENTS, key=['id'])",
            TYPES,
            {"unique_key": "id"},
        ),
        batches,
        table.rows,
    )
