"""Races on a real PostgreSQL: its changes in the order of commits leave what its tables hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.racing_postgres import (
    KEYS,
    RACES,
    TABLES,
    Change,
    Races,
    Row,
    left_by,
    racing_postgres,
)


@pytest.fixture(scope="module")
def races() -> Iterator[Races]:
    with racing_postgres() as races:
        yield races


def by_sequence(change: Change) -> tuple[int, int, bool]:
    """What a line says of its place: Debezium's `source.sequence`, and of a key that moves the delete first."""
    return (change.committed or 0, change.lsn, change.op != "d")


def by_lsn(change: Change) -> int:
    return change.lsn


@pytest.fixture(scope="module")
def raced(races: Races) -> dict[str, tuple[list[Change], list[Row]]]:
    """The changes of each race, and the rows that PostgreSQL has of its keys then."""
    races.stream()
    found = {}
    for name in RACES:
        ids = races.run(name)
        table = RACES[name].split()[0]
        rows = [row for row in races.rows(table) if row["id"] in ids]
        found[name] = (races.changes(), rows)
    return found


@pytest.mark.parametrize("name", RACES)
def test_a_race(raced: dict[str, tuple[list[Change], list[Row]]], name: str) -> None:
    changes, rows = raced[name]
    table = RACES[name].split()[0]
    assert changes
    assert left_by(changes, table) == rows
    assert left_by(changes, table, by_sequence) == rows


def test_most_races_would_end_otherwise_by_lsn(
    raced: dict[str, tuple[list[Change], list[Row]]],
) -> None:
    """Or else they show nothing."""
    wrong = [
        name
        for name, (changes, rows) in raced.items()
        if left_by(changes, RACES[name].split()[0], by_lsn) != rows
    ]
    assert len(wrong) >= 17, wrong


@pytest.mark.usefixtures("raced")
def test_random_races_with_a_snapshot_among_them(races: Races) -> None:
    """Transactions that are open when the snapshot is taken are streamed after it."""
    races.restart_stream()
    under_way = races.start_load(seed=1)
    changes = races.snapshot()
    assert {change.op for change in changes} == {"r"}
    for psql in under_way:
        psql.wait()
    changes += races.changes()
    for table in TABLES:
        assert left_by(changes, table) == races.rows(table), table
    streamed = [change for change in changes if change.op != "r"]
    assert {change.op for change in streamed} == set("cudt")
    assert len(streamed) > 200
    for seed in (2, 3):
        races.load(seed)
        changes += races.changes()
        for table in KEYS:
            assert left_by(changes, table) == races.rows(table), (seed, table)
