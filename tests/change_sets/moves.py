"""The source moves to a server whose positions begin lower, as the real Debezium sends it (scripts/debezium/moves.py).

The second batch has events of both servers, and in the third one an event of the first server comes again.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

from tests.change_sets.cases import Case, plain
from tests.support.change_set_project import Situation
from tests.support.shop import REPOSITORY, Row

RECORDED = REPOSITORY / "tests" / "change_sets" / "dialects"


@cache
def _expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / "moves.expected.json").read_text())
    return found


def _version(source: dict[str, Any], op: str, epoch: int) -> int:
    if source["connector"] == "postgresql":
        commit = int(json.loads(source["sequence"])[0] or source["lsn"])
        position = commit * 2**64 + (0 if op == "r" else 2**62) + source["lsn"] - commit + (op != "d")
    else:
        position = int(source["file"][-6:]) * 10**19 + source["pos"] * 10**7 + source["row"] * 10 + (op != "d")
    return int(epoch * 2**118 + position)


def _rows(lines: list[str], first: int) -> list[Row]:
    rows: dict[int, Row] = {}
    for number, line in enumerate(lines):
        event = json.loads(line)
        key = (event["after"] or event["before"])["id"]
        rows.pop(key, None)
        if event["op"] != "d":
            rows[key] = (key, event["after"]["note"], _version(event["source"], event["op"], int(number >= first)))
    return list(rows.values())


def _case(name: str, recorded: str, *, has_epochs: bool = True) -> Case:
    lines = (RECORDED / f"{recorded}.jsonl").read_text().splitlines()
    first = _expected()[recorded]["lines_of_first"]
    last = max(json.loads(line)["source"]["ts_ms"] for line in lines[:first])
    begin = datetime.fromtimestamp((last + 1) / 1000, UTC).isoformat(" ", "milliseconds")[:-6]
    rows = _rows(lines, first)
    assert [{"id": key, "note": note} for key, note, _ in sorted(rows)] == _expected()[recorded]["rows"]
    more = f", epochs=['{begin}']" if has_epochs else ""
    # Without epochs, a line of another table is told of too.
    again = lines[first - 1]
    others = [] if has_epochs else [again.replace('"table":"orders"', '"table":"other"')]
    return Case(
        Situation(
            name,
            plain(f"parse_debezium(SOURCE, key=['id'], columns={{'id': 'bigint', 'note': 'string'}}{more})"),
            "one_change_per_key(EVENTS, key=['id'])",
            {"id": "Int64", "note": "Nullable(String)", "_version": "Int128"},
            {"unique_key": "id"},
        ),
        {1: lines[: first - 1], 2: lines[first - 1 : first + 1], 3: [*lines[first + 1 :], again, *others]},
        rows if has_epochs else _rows(lines[: first - 1], first),
        stops=()
        if has_epochs
        else (
            f"the events of stg_{name} are of several tables: public.orders, public.other. Nothing was written. Name the "
            "table of this model in parse_debezium: table='public.orders'.",
            f"batch 2 of stg_{name} ends with 1 event newer than all others at lower positions, which would be late. "
            "Nothing was written. If the source has moved to another server or was restored, let an epoch begin there, "
            f"in parse_debezium: epochs=['{begin}']. If not, take them as they are: dbt run --vars "
            "'{max_lower_positions: 1}'",
        ),
    )


def moved() -> Case:
    return _case("moved", "moves_postgresql", has_epochs=False)


def moved_binlog() -> Case:
    return _case("moved_binlog", "moves_mariadb")
