"""What ClickHouse holds, as far as the protocol of an apply needs it, and what its statements do to that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, NamedTuple

Key = str
Row = tuple[Any, ...]
Rows = frozenset[tuple[Row, int]]  # each row with its number, or with the sum of its signs
Change = tuple[Key, int, bool]  # key, version, whether it deletes

NO_ROWS: Rows = frozenset()
IDLE: Rows = frozenset({(("idle",), 1)})
UNFINISHED = ("chunk staged", "started", "block applied")


class Table(NamedTuple):
    uuid: int = 0
    comment: str = ""
    rows: Rows = NO_ROWS


class Entry(NamedTuple):
    """A row of the ledger."""

    status: str
    run: str
    uuid: int
    apply: int = 0
    batches: tuple[int, ...] = ()
    is_journal: bool = False
    block: int = 0
    chunk: int = 0
    source: int = 0  # of a view: the UUID of its table


@dataclass(frozen=True, slots=True)
class World:
    """All tables by name, the ledger, and what else ClickHouse knows.

    Attributes:
        tokens: the last block of a journal that each table remembers: table and token.
        alive: the runs that go on.
        is_torn: whether ClickHouse was killed, and no run has succeeded since.
        is_warned: whether a run has warned that views may lack rows.
    """

    tables: frozenset[tuple[str, Table]] = frozenset()
    ledger: tuple[Entry, ...] = ()
    tokens: frozenset[tuple[str, str]] = frozenset()
    alive: frozenset[str] = frozenset()
    is_torn: bool = False
    is_warned: bool = False
    uuids: int = 0

    def get(self, name: str) -> Table | None:
        return next((table for found, table in self.tables if found == name), None)

    def rows(self, name: str) -> Rows:
        table = self.get(name)
        return table.rows if table else NO_ROWS

    def uuid(self, name: str) -> int:
        table = self.get(name)
        return table.uuid if table else 0

    def put(self, name: str, table: Table) -> World:
        kept = frozenset((found, other) for found, other in self.tables if found != name)
        return replace(self, tables=kept | {(name, table)})

    def create(self, name: str, comment: str = "") -> World:
        uuid = self.uuids + 1
        return replace(self.put(name, Table(uuid, comment)), uuids=uuid)

    def age(self, lock: str, *, is_idle: bool) -> World:
        """Note whether the holder of a lock has shown no sign of life for so long that another run may take it over."""
        table = self.get(lock)
        return self.put(lock, table._replace(rows=IDLE if is_idle else NO_ROWS)) if table else self

    def drop(self, *names: str) -> World:
        return replace(self, tables=frozenset(pair for pair in self.tables if pair[0] not in names))

    def add(self, name: str, rows: Iterable[tuple[Row, int]]) -> World:
        """Insert rows.

        Raises:
            Failed: there is no such table.
        """
        table = self.need(name)
        return self.put(name, table._replace(rows=added(table.rows, rows)))

    def need(self, name: str) -> Table:
        table = self.get(name)
        if table is None:
            raise Failed(f"there is no table {name}")
        return table

    def record(self, entry: Entry) -> World:
        return replace(self, ledger=(*self.ledger, entry))


class Failed(Exception):
    """A statement fails, and with it the run that sent it."""


Effect = Callable[[World], tuple[World, Any] | None]


@dataclass(frozen=True)
class Statement:
    """One statement of a run.

    Attributes:
        name: in short form, as in tests/macros/recordings.
        effect: what it does to the world, and its answer. None: the run waits.
        torn: the worlds that it can leave behind if ClickHouse is killed meanwhile.
        looks: the guard that makes the run look at its lock first; none if nothing does.
    """

    name: str
    effect: Effect
    torn: Callable[[World], Iterable[World]] = lambda world: ()
    looks: str = ""


def added(rows: Rows, more: Iterable[tuple[Row, int]]) -> Rows:
    counts = dict(rows)
    for row, number in more:
        counts[row] = counts.get(row, 0) + number
    return frozenset((row, number) for row, number in counts.items() if number)


def partition(row: Row) -> int:
    """With each new version, key a moves to the other partition."""
    key, version = row
    return version % 2 if key == "a" else 0


def in_parts(rows: Rows) -> list[Rows]:
    """The rows of each partition: a part of the table."""
    found = sorted({partition(row) for row, _ in rows})
    return [frozenset(each for each in rows if partition(each[0]) == number) for number in found]


def some_parts(rows: Rows) -> Iterable[Rows]:
    """Each choice of some of the parts, but not all."""
    parts = in_parts(rows)
    for number in range(1, len(parts)):
        for some in combinations(parts, number):
            yield frozenset(chain(*some))


def marked(change: Change, deleted: Mapping[Key, int]) -> Row:
    """A change as it is staged: below the tombstone of its key, a repetition of its delete, or neither."""
    key, version, is_deleted = change
    at = deleted.get(key, 0)
    is_below = version < at or (version == at and not is_deleted)
    return (*change, "below" if is_below else "again" if version == at else "")


def decide(changes: Rows, stored: Rows) -> tuple[Rows, Rows]:
    """The state and cancel rows that staged changes require, and the deletes to remember.

    If two changes of a key are staged, each is decided as if it were alone.
    """
    signed, deletes = NO_ROWS, NO_ROWS
    for (key, version, is_deleted, mark), number in changes:
        held = {row: net for row, net in stored if row[0] == key}
        live = max((row[1] for row, net in held.items() if net > 0), default=0)
        goes = is_deleted and not mark and version >= live
        wanted = 0 if goes else live if mark or is_deleted else max(live, version)
        target = {(key, wanted): 1} if wanted else {}
        for row in held | target:
            signed = added(signed, [(row, number * (target.get(row, 0) - held.get(row, 0)))])
        if goes:
            deletes |= {((key, version), 1)}
    return signed, deletes
