"""The oracle compared with a real PostgreSQL: what races leave in its tables, and which order of events predicts it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.oracle import Event, Oracle
from tests.support.racing_postgres import COLUMNS, RACES, TABLES, Change, Races, Row, events, racing_postgres

DIALECTS = Path(__file__).parents[1] / "change_sets" / "dialects"
Raced = dict[str, tuple[list[Change], list[Row]]]


def by_commit(changes: list[Change]) -> Callable[[Change], tuple[int, bool, int, bool]]:
    """The order that the lines themselves give: by the previous commit in `source.sequence`, a snapshot before what
    follows it, and the delete first if a key moves."""
    start = next((change.lsn for change in changes if change.op == "r"), 0)
    return lambda change: (
        change.committed or (start if change.lsn else 0),
        change.op != "r",
        change.lsn,
        change.op != "d",
    )


def by_lsn(change: Change) -> tuple[int, bool]:
    return (change.lsn, change.op != "d")


def left_by(found: list[Event]) -> list[Row]:
    """The rows that events leave behind."""
    oracle = Oracle(COLUMNS)
    oracle.apply(found)
    return rows_of(oracle)


def rows_of(oracle: Oracle) -> list[Row]:
    rows = [dict(zip(COLUMNS, row.values, strict=True)) for row in oracle.live.values()]
    return sorted(rows, key=lambda row: (row["id"], row["code"]))


@pytest.fixture(scope="module")
def races() -> Iterator[Races]:
    with racing_postgres() as races:
        yield races


@pytest.fixture(scope="module")
def raced(races: Races) -> Raced:
    """The changes of each race, and PostgreSQL's rows for its keys afterwards."""
    races.stream()
    found = {}
    for name in RACES:
        ids = races.run(name)
        rows = [row for row in races.rows(table_of(name)) if row["id"] in ids]
        found[name] = (races.changes(), rows)
    return found


def table_of(race: str) -> str:
    return RACES[race].split()[0]


@pytest.mark.parametrize("name", RACES)
def test_a_race(raced: Raced, name: str) -> None:
    changes, rows = raced[name]
    assert changes
    assert left_by(events(changes, table_of(name))) == rows
    assert left_by(events(changes, table_of(name), by_commit(changes))) == rows


def test_most_races_would_end_otherwise_by_lsn(raced: Raced) -> None:
    """Otherwise the races would prove nothing."""
    wrong = [
        name for name, (changes, rows) in raced.items() if left_by(events(changes, table_of(name), by_lsn)) != rows
    ]
    assert len(wrong) >= 17, wrong


@pytest.mark.usefixtures("raced")
def test_a_transaction_is_open_when_the_snapshot_is_taken(races: Races) -> None:
    """It is streamed later, and its first changes come before the snapshot."""
    changes, rows = races.open_transaction()
    position = changes[0].lsn
    assert [change.op for change in changes if change.lsn < position] == ["c", "u"]
    assert left_by(events(changes, "accounts")) == rows
    assert left_by(events(changes, "accounts", by_commit(changes))) == rows
    assert left_by(events(changes, "accounts", by_lsn)) != rows


@pytest.mark.usefixtures("raced")
def test_random_races(races: Races) -> None:
    """The rows are PostgreSQL's however changes are split into change sets, and in whatever order and how often they
    come within one."""
    chance = random.Random(1)
    races.restart_stream()
    under_way = races.start_load(seed=1)
    changes = races.snapshot()
    for psql in under_way:
        psql.wait()
    oracles = {table: Oracle(COLUMNS) for table in TABLES}
    seen: list[Change] = []
    for seed in (2, 3, 4):
        changes += races.changes()
        seen += changes
        for table, oracle in oracles.items():
            found = events(changes, table, by_commit(seen))
            delivered = [*found, *chance.sample(found, len(found) // 5)]
            chance.shuffle(delivered)
            counts = oracle.apply(delivered)
            assert rows_of(oracle) == races.rows(table), (seed, table)
            assert accounted(counts) == counts["events"] + counts["synthetic"]
        changes = []
        races.load(seed)
    assert {change.op for change in seen} == set("rcudt")
    assert len(seen) > 500


@pytest.mark.parametrize("mark", range(4))
def test_races_that_debezium_has_recorded(mark: int) -> None:
    """They come from `python -m scripts.debezium.races`. At each mark the rows are PostgreSQL's. After the snapshot and
    after the races of `RACES`, ordering by LSN would give some other rows."""
    with gzip.open(DIALECTS / "races.jsonl.gz", "rt") as file:
        changes = [Change.of_line(line) for line in file]
    expected = json.loads((DIALECTS / "races.expected.json").read_text())[mark]
    changes = changes[: expected["lines"]]
    wrong = []
    for table, rows in expected["tables"].items():
        assert left_by(events(changes, table, by_commit(changes))) == rows, table
        wrong += [table] if left_by(events(changes, table, by_lsn)) != rows else []
    assert wrong or mark in (1, 3)


def accounted(counts: dict[str, int]) -> int:
    """The events that the ledger accounts for."""
    names = "superseded truncates states deletes duplicates late conflicts tombstoned"
    return sum(counts.get(name, 0) for name in names.split())
