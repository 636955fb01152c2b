"""Debezium's events in landing tables: the order of commits, events of other tables, and the digits of numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bridges.landings import ENVELOPES, Landings
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node

DIALECTS = Path(__file__).parents[1] / "change_sets" / "dialects"
FLAT = (
    "(id Int64, x String, __op String, __lsn Nullable(Int64), __source_sequence Nullable(String), __table String, "
    "__deleted String, _inserted_at DateTime64(6, 'UTC') default now64(6)) engine = MergeTree order by tuple()"
)
COMMIT, TIER = 2**64, 2**62
MOVED = "2026-11-28 00:42:19.000"  # between the two servers of moves_restore.jsonl


def postgresql(op: str, key: int, x: str, lsn: int | None, last: int | None) -> dict[str, Any]:
    """A PostgreSQL event, with the LSN of the last commit before it."""
    sequence = json.dumps([last if last is None else str(last), str(lsn)])
    source = {"connector": "postgresql", "table": "t", "lsn": lsn, "sequence": sequence}
    return event(op, key, x, {"schema": "public", **source})


def mysql(op: str, key: int, x: str, file: str, pos: int, row: int = 0) -> dict[str, Any]:
    """A MySQL event."""
    source = {"connector": "mysql", "db": "d", "table": "t", "file": file, "pos": pos, "row": row}
    return event(op, key, x, source)


def event(op: str, key: int, x: str, source: dict[str, Any]) -> dict[str, Any]:
    """An envelope."""
    image = {"id": key, "x": x}
    return {"before": image if op == "d" else None, "after": None if op in "dt" else image, "op": op, "source": source}


# By name: events in the order of their commits, the rows that remain, and some versions.
STREAMS: dict[str, tuple[list[dict[str, Any]], list[tuple[int, str]], list[int]]] = {
    # PostgreSQL writes the row of an insert before it waits for the transaction that holds the key.
    "a_race": (
        [postgresql("c", 7, "a", 600, 500), postgresql("d", 7, "", 712, 640), postgresql("c", 7, "b", 648, 720)],
        [(7, "b")],
        [720 * COMMIT + TIER + (648 - 720) + 1],
    ),
    # Two transactions are open while the snapshot is taken; the first one has no commit before it.
    "open_at_a_snapshot": (
        [
            postgresql("r", 1, "a", 1000, None),
            postgresql("r", 2, "a", 1000, None),
            postgresql("u", 1, "b", 900, None),
            postgresql("u", 2, "b", 880, 1010),
        ],
        [(1, "b"), (2, "b")],
        [1000 * COMMIT + TIER + (900 - 1000) + 1, 1010 * COMMIT + TIER + (880 - 1010) + 1],
    ),
    # A blocking snapshot is taken in the middle of a stream: the first transaction is before it.
    "a_blocking_snapshot": (
        [
            postgresql("r", 1, "a", 800, None),
            postgresql("u", 1, "b", 808, None),
            postgresql("u", 1, "c", 824, 816),
            postgresql("r", 1, "c", 840, 832),
        ],
        [(1, "c")],
        [832 * COMMIT + (840 - 832) + 1],
    ),
    # A new slot takes a snapshot of its own, above the first transaction of the old one.
    "two_slots": (
        [
            postgresql("r", 1, "a", 800, None),
            postgresql("r", 2, "a", 800, None),
            postgresql("u", 1, "b", 808, None),
            postgresql("u", 1, "c", 824, 816),
            postgresql("r", 1, "c", 900, None),
            postgresql("r", 2, "a", 900, None),
            postgresql("u", 2, "d", 880, None),
        ],
        [(1, "c"), (2, "d")],
        [900 * COMMIT + 1, 900 * COMMIT + TIER + (880 - 900) + 1],
    ),
    # A row of an incremental snapshot has no position: it is below every change.
    "an_incremental_snapshot": (
        [postgresql("u", 1, "b", 500, 400), postgresql("r", 1, "a", None, 600), postgresql("r", 2, "a", None, 600)],
        [(1, "b"), (2, "a")],
        [400 * COMMIT + TIER + 100 + 1, 1],
    ),
    "a_rotated_binlog": (
        [
            mysql("r", 1, "a", "binlog.000009", 4000),
            mysql("u", 1, "b", "binlog.000009", 9000, 2),
            mysql("u", 1, "c", "binlog.000010", 200, 1),
        ],
        [(1, "c")],
        [10 * 10**19 + 200 * 10**7 + 1 * 10 + 1],
    ),
}
TABLES = ("public.customers", "public.carts", "sales.carts_1", "sales.carts_2")


def shared(n: int, op: str, name: str) -> dict[str, Any]:
    """An event of one of several tables in one landing table."""
    schema, table = name.split(".")
    found = postgresql(op, n // 4 % 2, name, 100 * n, 100 * n - 10)
    return {**found, "source": {**found["source"], "schema": schema, "table": table}}


# By name: the model's argument, and the rows that remain.
OF_TABLES: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "named": ("customers", [(0, "public.customers"), (1, "public.customers")]),
    "qualified": ("public.customers", [(0, "public.customers"), (1, "public.customers")]),
    "by_a_pattern": ("sales.carts_*", [(0, "sales.carts_2"), (1, "sales.carts_2")]),
    "emptied": ("carts", []),
}
DIGITS = (
    '{"id": 1, "amount": 12345678901234567.89, "big": 123456789012345678901234567890, "small": 0.10, '
    '"nested": {"amount": 1.5}, "text": "1.50"}'
)


def land(landings: Landings, name: str, events: list[dict[str, Any]]) -> None:
    """Land envelopes in an arbitrary order."""
    data = [
        [*(json.dumps(found[part]) for part in ("before", "after", "source")), found["op"], n]
        for n, found in enumerate(events)
    ]
    landings.project.client.insert(
        name,
        sorted(data, key=lambda row: str(row[1])),
        ["before", "after", "source", "op", "_inserted_at"],
        database=landings.project.schema,
    )


@pytest.fixture(scope="module")
def landings(make_project: MakeProject) -> Landings:
    return Landings(make_project("bridge_events"))


@pytest.fixture(scope="module")
def nodes(landings: Landings) -> dict[str, Node]:
    """All landing tables and models of this file, after one run."""
    columns = "columns=['id', 'x']"
    for name, (events, _, _) in STREAMS.items():
        landings.create(name, ENVELOPES)
        land(landings, name, events)
        landings.model(f"{name}_current", f"{{{{ kafka_connect_changes(source('shop', '{name}'), {columns}) }}}}")
        landings.project.declare(f"{name}_current", {"id": "Int64", "x": "String"})
        if "binlog" in name:
            continue
        landings.create(f"{name}_flat", FLAT)
        for found in events:
            image, source = found["after"] or found["before"], found["source"]
            row = [
                image["id"],
                image["x"],
                found["op"],
                source["lsn"],
                source["sequence"],
                str(found["op"] == "d").lower(),
            ]
            landings.project.client.insert(
                f"{name}_flat",
                [row],
                ["id", "x", "__op", "__lsn", "__source_sequence", "__deleted"],
                database=landings.project.schema,
            )
        landings.model(f"{name}_flat_current", f"{{{{ kafka_connect_changes(source('shop', '{name}_flat')) }}}}")
    landings.create("of_tables", ENVELOPES)
    land(
        landings,
        "of_tables",
        [shared(1 + n, "c", name) for n, name in enumerate(TABLES * 2)]
        + [shared(10 + n, "c", name) for n, name in enumerate(TABLES * 2, 1)]
        + [shared(30, "t", "public.carts")],
    )
    body = f"kafka_connect_changes(source('shop', 'of_tables'), {columns}"
    for name, (table, _) in OF_TABLES.items():
        landings.model(f"of_tables_{name}", f"{{{{ {body}, table='{table}') }}}}")
    landings.model("of_tables_unnamed", f"{{{{ {body}) }}}}")
    for name in (*OF_TABLES, "unnamed"):
        landings.project.declare(f"of_tables_{name}", {"id": "Int64", "x": "String"})
    landings.create("moved", ENVELOPES)
    land(landings, "moved", [json.loads(line) for line in (DIALECTS / "moves_restore.jsonl").open()])
    landings.model(
        "moved_current",
        f"{{{{ kafka_connect_changes(source('shop', 'moved'), columns=['id', 'note'], epochs=['{MOVED}']) }}}}",
    )
    landings.project.declare("moved_current", {"id": "Int64", "note": "String"})
    for name, more in (("untimed", "[1]"), ("versioned", f"['{MOVED}'], version='source'")):
        landings.model(
            f"moved_{name}", f"{{{{ kafka_connect_changes(source('shop', 'moved'), columns=['id'], epochs={more}) }}}}"
        )
    landings.create("digits", ENVELOPES)
    landings.land(
        "digits", f"""('{DIGITS}', 'c', '{{"lsn": 100, "sequence": "[90]"}}')""", columns="(after, op, source)"
    )
    typed = {
        "id": "Int64",
        "amount": "Decimal(38, 2)",
        "big": "UInt128",
        "small": "String",
        "nested": "String",
        "text": "String",
        "missing": "Nullable(String)",
    }
    landings.model(
        "digits_current", f"{{{{ kafka_connect_changes(source('shop', 'digits'), columns={list(typed)}) }}}}"
    )
    landings.project.declare("digits_current", typed)
    landings.create("untold", ENVELOPES)
    image = '{"a": {"n": 1.00000000000000001}, "n": 1.00000000000000002}'
    landings.land("untold", f"""('{image}', 'c', '{{"lsn": 9, "sequence": "[8]"}}')""", columns="(after, op, source)")
    landings.model(
        "untold_current", "{{ kafka_connect_changes(source('shop', 'untold'), columns=['n']) }}", unique_key="n"
    )
    landings.project.declare("untold_current", {"n": "String"})
    landings.create("unordered", "(id Int64, _version UInt64, is_deleted UInt8) engine = Memory")
    landings.model("unordered_current", "{{ kafka_connect_changes(source('shop', 'unordered'), watermark=none) }}")
    # A watermark may have any name.
    landings.project.command("alter table two_slots add column landed_at DateTime64(6, 'UTC') default _inserted_at")
    landings.model(
        "two_slots_named",
        f"{{{{ kafka_connect_changes(source('shop', 'two_slots'), {columns}, watermark='landed_at') }}}}",
    )
    landings.model(
        "two_slots_unordered",
        f"{{{{ kafka_connect_changes(source('shop', 'two_slots'), {columns}, watermark=none) }}}}",
    )
    for name in ("named", "unordered"):
        landings.project.declare(f"two_slots_{name}", {"id": "Int64", "x": "String"})
    for dialect in REAL:
        lines = (DIALECTS / f"{dialect}.jsonl").read_text().splitlines()
        landings.create(dialect, ENVELOPES)
        land(landings, dialect, [json.loads(line) for line in lines if line != "null"])
        landings.model(
            f"{dialect}_current",
            f"{{{{ kafka_connect_changes(source('shop', '{dialect}'), columns=['id', 'name', 'small']) }}}}",
        )
        types = {"id": "Int64", "name": "Nullable(String)", "small": "Nullable(Int64)"}
        landings.project.declare(f"{dialect}_current", types)
    landings.create("unplaced", ENVELOPES)
    land(landings, "unplaced", [event("c", 1, "a", {"connector": "oracle", "scn": "100"})])
    landings.model(
        "unplaced_current", f"{{{{ kafka_connect_changes(source('shop', 'unplaced'), {columns}, watermark=none) }}}}"
    )
    landings.project.declare("unplaced_current", {"id": "Int64", "x": "String"})
    return landings.project.run()


def test_a_source_that_was_restored(landings: Landings, nodes: dict[str, Node]) -> None:
    """Events of the restored server are above those of the server before."""
    rows = json.loads((DIALECTS / "moves.expected.json").read_text())["moves_restore"]["rows"]
    assert nodes["moved_current"].status == "success", nodes["moved_current"].message
    assert landings.live("moved_current") == [(row["id"], row["note"]) for row in rows]
    assert "epochs is [1]; it takes at most 255 times of the source in UTC" in nodes["moved_untimed"].message
    assert "but version is set. Only positions have epochs: remove one." in nodes["moved_versioned"].message


@pytest.mark.parametrize("name", STREAMS)
def test_the_order_of_commits(landings: Landings, nodes: dict[str, Node], name: str) -> None:
    """The order of commits decides, not the position of a row in the log."""
    _, rows, versions = STREAMS[name]
    for model in (f"{name}_current", f"{name}_flat_current", f"{name}_named"):
        if model in nodes:
            assert nodes[model].status == "success", nodes[model].message
            assert landings.live(model) == rows, model
            found = landings.project.query(f"select _version from {model} final where _sign = 1")
            assert set(versions) <= {row[0] for row in found}, model


@pytest.mark.parametrize("name", OF_TABLES)
def test_events_of_other_tables(landings: Landings, nodes: dict[str, Node], name: str) -> None:
    """They are not rows of this table, and their truncates do not empty it."""
    assert nodes[f"of_tables_{name}"].status == "success", nodes[f"of_tables_{name}"].message
    assert landings.live(f"of_tables_{name}") == OF_TABLES[name][1]
    assert "ignored events of other tables: " in landings.project.logged("JinjaLogInfo")


def test_numbers_keep_their_digits(landings: Landings, nodes: dict[str, Node]) -> None:
    assert nodes["digits_current"].status == "success", nodes["digits_current"].message
    found = landings.project.query(
        "select toString(amount), toString(big), small, nested, text, missing from digits_current"
    )
    assert found == [("12345678901234567.89", "123456789012345678901234567890", "0.10", '{"amount":1.5}', "1.50", None)]


REFUSED = {
    "of_tables_unnamed": "has events of several tables: public.customers, and public.carts (5), sales.carts_1 (4), "
    "sales.carts_2 (4). Name the one whose rows the model has, such as table='public.customers'.",
    "unordered_current": "does not say in which order its source committed: it has no column __op, __lsn, __sequence. "
    "Land them, by add.fields: op,table,source.lsn,source.sequence for PostgreSQL",
    "untold_current": "The digits of a number in an envelope cannot be told. Land such numbers as texts",
    "two_slots_unordered": "The watermark does not tell which of two initial snapshots comes before the first "
    "transaction of a slot.",
    "unplaced_current": "An event has no position in the order of commits. PostgreSQL: land source.sequence",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_order_or_no_table(nodes: dict[str, Node], name: str) -> None:
    """The run stops."""
    assert nodes[name].status == "error"
    assert REFUSED[name] in " ".join(nodes[name].message.split())


REAL = ("postgresql_texts", "postgresql_doubles", "mysql_texts", "mysql_doubles")


@pytest.mark.parametrize("dialect", REAL)
def test_what_a_real_debezium_sends(landings: Landings, nodes: dict[str, Node], dialect: str) -> None:
    assert nodes[f"{dialect}_current"].status == "success", nodes[f"{dialect}_current"].message
    expected = json.loads((DIALECTS / f"{dialect}.expected.json").read_text())["tables"]["types"]["rows"]
    texts = landings.project.query(
        f"select toString(id), name, toString(small) from {dialect}_current final where _sign = 1 order by id"
    )
    assert texts == [(row["id"], row["name"], row["small"]) for row in sorted(expected, key=lambda row: int(row["id"]))]
