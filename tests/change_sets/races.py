"""Races on a PostgreSQL that Debezium has recorded (scripts/debezium/races.py), followed up to ClickHouse.

A transaction is open during the snapshot, and an incremental snapshot runs during writes. The rows are PostgreSQL's.
"""

from __future__ import annotations

import gzip
import json

from tests.change_sets.cases import Case
from tests.support.change_set_project import Situation
from tests.support.racing_postgres import KEYS
from tests.support.shop import REPOSITORY

RECORDED = REPOSITORY / "tests" / "change_sets" / "dialects"
COLUMNS = {"id": "bigint", "code": "bigint", "amount": "bigint", "note": "string"}


def races(table: str = "accounts") -> Case:
    marks = json.loads((RECORDED / "races.expected.json").read_text())
    with gzip.open(RECORDED / "races.jsonl.gz", "rt") as file:
        lines = [line.strip() for line in file]
    first, _, third, last = (mark["lines"] for mark in marks)
    key = list(KEYS[table])
    return Case(
        Situation(
            "races",
            f"parse_debezium(SOURCE, key={key}, columns={COLUMNS}, toasted=['note'], table='public.{table}')",
            f"one_change_per_key(EVENTS, key={key})",
            {
                name: "Int64" if name in key else "Nullable(String)" if name == "note" else "Nullable(Int64)"
                for name in COLUMNS
            },
            {"unique_key": key},
            select="* replace (toInt128(_version) as _version)",
        ),
        {1: lines[:first], 2: lines[first:third], 3: lines[third:last]},
        [tuple(row[name] for name in COLUMNS) for row in marks[-1]["tables"][table]],
    )
