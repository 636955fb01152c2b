"""`combine`, `_unset` and `_reset`: how a new value is combined with the stored one."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.support.balance import counts_of_last_apply
from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.oracle import Event, Oracle
from tests.support.table import Table

Value = int | None

POLICIES = ("latest", "greatest", "least", "coalesce", "first")
COLUMNS = ("part", *POLICIES)
STRUCTURE = (
    "id Int64, part UInt8, "
    + ", ".join(f"{policy} Nullable(Int64)" for policy in POLICIES)
    + ", _version Int64, _is_deleted Bool, _unset Array(String), _reset Bool"
)
CONFIG: dict[str, Any] = {
    "unique_key": "id",
    "partition_by": "part",
    "combine": {policy: policy for policy in POLICIES if policy != "latest"},
}
WRITTEN = "select sum(states + cancels + rebalanced) from versioned_collapsing_ledger"
LIVE = f"select id, part, {', '.join(POLICIES)}, _version from target final where _sign = 1 order by id"


def change(
    key: int,
    version: int,
    part: int,
    values: tuple[Value, ...],
    is_deleted: bool = False,
    unset: Iterable[str] = (),
    is_reset: bool = False,
) -> Event:
    """An event of a key, with a value for each policy. Deletes carry values too, which do not matter."""
    names = frozenset(unset)
    return Event(key, version, (part, *values), is_deleted, unset=names, is_reset=is_reset)


def row(event: Event) -> Row:
    unset = sorted(event.unset)
    return (event.key, *event.values, event.version, event.is_deleted, unset, event.is_reset)


def history(chance: random.Random, keys: int, events: int) -> list[Event]:
    changes = []
    for key in range(keys):
        version = 5
        for _ in range(events):
            is_deleted = chance.random() < 0.12
            version += chance.choice([0, 1, 2] if is_deleted else [1, 1, 2])
            changes.append(
                change(
                    key,
                    version,
                    chance.randrange(3),
                    tuple(chance.choice([None, chance.randrange(9)]) for _ in POLICIES),
                    is_deleted,
                    [policy for policy in POLICIES if chance.random() < 0.2],
                    chance.random() < 0.08,
                )
            )
    return changes


def test_a_fold_equals_its_changes_one_by_one(make_project: MakeProject) -> None:
    """The result does not depend on how events are split into runs or into chunks, and the same change set again writes
    nothing."""
    chance = random.Random(3)
    table = Table(make_project("combine_histories"), STRUCTURE, **CONFIG)
    table.add_model("chunked", {**CONFIG, "chunks": 3}, "select * from changes")
    oracle = Oracle(COLUMNS, CONFIG["combine"])
    late: list[Event] = []
    changes = sorted(history(chance, 120, 10), key=lambda change: change.version)
    cuts = sorted(chance.sample(range(len(changes)), 2))
    for start, end in zip([0, *cuts], [*cuts, len(changes)], strict=True):
        batch = [*late, *changes[start:end]]
        late = [change for change in batch if chance.random() < 0.15]
        batch = [change for change in batch if change not in late] + batch[: len(batch) // 9]
        batch = list(dict.fromkeys(batch))
        chance.shuffle(batch)
        table.build(map(row, batch))
        counts = oracle.apply(batch)
        for name in ("target", "chunked"):
            assert counts_of_last_apply(table.query, table.project.schema, name) == counts
            assert table.query(LIVE.replace("target", name)) == sorted(oracle.rows)
        if chance.random() < 0.5:
            table.command("optimize table target final")
    before = table.query(WRITTEN)
    table.project.build()
    assert table.query(WRITTEN) == before
    assert len(oracle.live) > 50


ROWS: dict[str, tuple[list[Event], list[Event], tuple[Value, ...] | None]] = {
    # The stored value, the new one, and the live one for each of: latest, greatest, least, coalesce, first
    "values": ([change(0, 1, 0, (5, 5, 5, 5, 5))], [change(0, 2, 0, (4, 4, 4, 4, 4))], (4, 5, 4, 4, 5)),
    "null_keeps_but_with_latest": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (None,) * 5)],
        (None, 5, 5, 5, 5),
    ),
    "null_stored": ([change(0, 1, 0, (None,) * 5)], [change(0, 2, 0, (4, 4, 4, 4, 4))], (4, 4, 4, 4, 4)),
    "unset_keeps": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 1, (9, 9, 1, 9, 9), unset=POLICIES)],
        (5, 5, 5, 5, 5),
    ),
    "unset_then_set_in_one_run": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (8,) * 5), change(0, 3, 0, (1,) * 5, unset=("latest", "coalesce"))],
        (8, 8, 1, 8, 5),
    ),
    "reset_does_not_combine": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (None, 1, 9, None, None), is_reset=True)],
        (None, 1, 9, None, None),
    ),
    "reset_below_another_change": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (1, 1, 9, 1, 1), is_reset=True), change(0, 3, 0, (None,) * 5)],
        (None, 1, 9, 1, 1),
    ),
    "delete_in_between": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (0,) * 5, is_deleted=True), change(0, 3, 0, (1, 1, 9, None, 1))],
        (1, 1, 9, None, 1),
    ),
    "upsert_and_delete_at_one_version": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (9, 9, 1, 9, 9)), change(0, 2, 0, (0,) * 5, is_deleted=True)],
        None,
    ),
    "upsert_above_both_at_one_version": (
        [change(0, 1, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (9, 9, 1, 9, 9)), change(0, 2, 0, (0,) * 5, is_deleted=True), change(0, 3, 0, (4,) * 5)],
        (4, 4, 4, 4, 4),
    ),
    "versions_of_more_digits": (
        [change(0, 8, 0, (5, 5, 5, 5, 5))],
        [change(0, 9, 0, (6, 6, 6, 6, 6)), change(0, 10, 0, (7, 7, 7, 7, 7))],
        (7, 7, 5, 7, 5),
    ),
    "stale_delete_does_not_reset": (
        [change(0, 5, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (0,) * 5, is_deleted=True), change(0, 6, 0, (1, 1, 9, None, 1))],
        (1, 5, 5, 5, 5),
    ),
    "stale_change_is_lost_beside_a_newer_one": (
        [change(0, 5, 0, (5, 5, 5, 5, 5))],
        [change(0, 2, 0, (9, 9, 0, 9, 9)), change(0, 6, 0, (None,) * 5, unset=("latest", "greatest"))],
        (5, 5, 5, 5, 5),
    ),
    "recreation_after_a_delete": (
        [change(0, 1, 0, (5, 5, 5, 5, 5)), change(0, 2, 0, (0,) * 5, is_deleted=True)],
        [change(0, 3, 0, (1, 1, 1, None, None))],
        (1, 1, 1, None, None),
    ),
    "moved_partition": ([change(0, 1, 0, (5, 5, 5, 5, 5))], [change(0, 2, 2, (1, 9, 9, None, 1))], (1, 9, 5, 5, 5)),
}


class TestOneKey:
    """Each case is a key of one table, in two runs."""

    @pytest.fixture(scope="class")
    @classmethod
    def live(cls, make_project: MakeProject) -> dict[int, Row]:
        table = Table(make_project("combine_cases"), STRUCTURE, **CONFIG)
        for step in (0, 1):
            cases = enumerate((case[0], case[1])[step] for case in ROWS.values())
            table.apply((key, *row(event)[1:]) for key, events in cases for event in events)
        before = table.query(WRITTEN)
        assert "duplicates" in table.project.build()["target"]
        assert table.query(WRITTEN) == before
        return {row[0]: row for row in table.query(LIVE)}

    @pytest.mark.parametrize("name", ROWS)
    def test_case(self, live: dict[int, Row], name: str) -> None:
        found = live.get(list(ROWS).index(name))
        stored, coming, expected = ROWS[name]
        assert (found and found[2:7]) == expected
        oracle = Oracle(COLUMNS, CONFIG["combine"])
        oracle.apply(stored)
        oracle.apply(coming)
        assert [row[2:7] for row in oracle.rows] == ([expected] if expected else [])


def test_what_is_combined_with_what(make_project: MakeProject) -> None:
    """The rows of an unbalanced key with the change, by the highest state; a change at the live version is judged after
    combining; and partial changes that cannot be combined are counted."""
    table = Table(make_project("combine_what"), STRUCTURE, **CONFIG)
    table.apply(row(change(key, 5, 0, (5,) * 5)) for key in (1, 2, 3, 4))
    planted = "(1, 0, 99, 4, 1), (1, 1, 50, 7, 1)"
    table.command(f"insert into target (id, part, greatest, _version, _sign) values {planted}")
    changes = [
        change(1, 9, 0, (9, 9, 9, None, 9)),
        change(2, 5, 0, (5, 1, 9, None, 9)),
        change(3, 5, 0, (5, 6, 5, 5, 5)),
        change(4, 4, 0, (9,) * 5),
        change(5, 1, 0, (1,) * 5, unset=("latest",)),
    ]
    message = table.apply(map(row, changes))
    for said in ("5 rows: ", "1 duplicate", "1 conflict", "1 rebalanced", "2 unmerged"):
        assert said in message
    old = (0, *(5,) * 5, 5)
    live = [(1, 0, 9, 50, 9, None, 9, 9), (2, *old), (3, *old), (4, *old), (5, 0, None, 1, 1, 1, 1, 1)]
    assert table.query(LIVE) == live


def test_an_unset_column_may_be_null_where_the_table_takes_none(make_project: MakeProject) -> None:
    columns = "id Int64, body Nullable(String), _version Int64, _unset Array(String)"
    table = Table(make_project("combine_toast"), columns)
    table.project.declare("target", {"id": "Int64", "body": "String", "_version": "Int64"})
    table.apply([(1, "long", 1)])
    table.apply([(1, None, 2, ["body"])])
    table.check([(1, "long", 2)])


def test_columns_of_many_types(make_project: MakeProject) -> None:
    types: dict[str, tuple[Any, ...]] = {
        "low": ("LowCardinality(String)", "greatest", "b", "a", "b"),
        "low_null": ("LowCardinality(Nullable(String))", "coalesce", "b", None, "b"),
        "price": ("Decimal(12, 2)", "greatest", Decimal("1.10"), Decimal("1.20"), Decimal("1.20")),
        "at": (
            "Nullable(DateTime64(6))",
            "first",
            datetime(2025, 1, 1, 0, 0, 0, 5),
            datetime(2026, 1, 1),
            datetime(2025, 1, 1, 0, 0, 0, 5),
        ),
        "tags": ("Array(Nullable(String))", "latest", ["a", None], ["b"], ["b"]),
        "kept": ("Array(UInt8)", "latest", [1, 2], [], [1, 2]),
        "pairs": ("Map(String, UInt64)", "latest", {"a": 1}, {}, {"a": 1}),
        "id128": ("UInt128", "least", 2**100, 2**101, 2**100),
    }
    columns = ", ".join(f"{name} {kind[0]}" for name, kind in types.items())
    combine = {name: kind[1] for name, kind in types.items()}
    structure = f"id Int64, {columns}, _version Int64, _unset Array(String)"
    table = Table(make_project("combine_types"), structure, combine=combine)
    table.apply([(1, *(kind[2] for kind in types.values()), 1, [])])
    table.apply([(1, *(kind[3] for kind in types.values()), 2, ["kept", "pairs"])])
    (row,) = table.live(", ".join(types))
    assert row == tuple(kind[4] for kind in types.values())
    assert table.query("select sum(_sign) from target") == [(1,)]
