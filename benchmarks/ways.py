"""More ways to change rows: by the number of changes, with columns that stay the same, and with sums that follow."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from benchmarks.engine import Engine
from benchmarks.measure import Arm, interleaved
from benchmarks.tables import (
    BY_DEPARTMENT,
    COLLAPSING,
    COLUMNS,
    NULLABLE,
    SIGN,
    SIGNED,
    STORED,
    UPDATED,
    Row,
    make_base,
    update_from_table,
)
from benchmarks.upsert import SHAPES, Upsert

# The columns of Upsert's change set, as a user who changes rows by a condition would write them.
EXPRESSIONS = {
    "metric1": "cityHash64(toUInt64(id), 11) % 1000",
    "metric2": "cityHash64(toUInt64(id), 12) % 10000 / 100",
    "_version": "2",
}
PARTIAL = ("id", "metric1", "_version")  # the columns that partial changes carry


@dataclass(frozen=True)
class Way:
    """A way to write the changes into its own table, and how its readers sum.

    ``prepare`` brings the table to its state before the changes; ``write`` returns the seconds that count.
    """

    name: str
    table: str
    prepare: Callable[[], None]
    write: Callable[[], float]
    sums: str
    final: str = ""
    has_view: bool = True

    def read(self) -> str:
        """The sums by department, from the table."""
        return f"select department, {self.sums} from {self.table} {self.final} {BY_DEPARTMENT}"


class Ways:
    """The tables of all ways, and the figures of each."""

    def __init__(self, engine: Engine, rows: int, trials: int) -> None:
        self.engine, self.trials = engine, trials
        bases = ["collapsing", "replacing", "merge"]
        self.upsert = Upsert(engine, SHAPES["scattered"], rows, max(rows // 10, 1), bases)
        make_base(self.upsert, "base_updated", "MergeTree", COLUMNS, UPDATED)
        is_deleted = {"_is_deleted": ("UInt8", "0")}
        deletable = "ReplacingMergeTree(_version, _is_deleted)"
        make_base(self.upsert, "base_deletable", deletable, COLUMNS | is_deleted)
        make_base(self.upsert, "base_coalescing", "CoalescingMergeTree", NULLABLE)
        make_base(self.upsert, "base_partial", COLLAPSING, NULLABLE | SIGN)

    def _ways(self) -> list[Way]:
        return [
            self.ours("versioned_collapsing", "ours", has_view=False),
            self.ours("versioned_collapsing, with the view", "ours_followed"),
            self.inserted("ReplacingMergeTree(version)", "replacing", "base_replacing"),
            self.inserted("ReplacingMergeTree(version, is_deleted)", "deletable", "base_deletable"),
            self._changed("lightweight update, values from a table", "joined", self._update_joined),
            self._changed("lightweight update, values by an expression", "updated", self._update),
            self._changed("alter table update (a mutation)", "mutated", self._mutate),
        ]

    def ours(self, name: str, model: str, has_view: bool = True, base: str = "base_collapsing") -> Way:
        """A model that was added: every ClickHouse statement of its `dbt run`."""
        return Way(
            name,
            model,
            lambda: self.upsert.adopt(model, base),
            lambda: self.engine.dbt("run", "--select", model),
            SIGNED,
            has_view=has_view,
        )

    def inserted(self, name: str, table: str, base: str, columns: str = "") -> Way:
        """The new states are only inserted; readers pay, with FINAL."""
        columns = columns or self.upsert.columns
        return Way(
            name,
            table,
            lambda: self.engine.clone(base, table),
            lambda: self.engine.seconds(f"insert into {table} ({columns}) select {columns} from {self.upsert.source}"),
            STORED,
            "final",
        )

    def _changed(self, name: str, table: str, write: Callable[[str], float]) -> Way:
        return Way(name, table, lambda: self.engine.clone("base_updated", table), lambda: write(table), STORED)

    def _update(self, table: str) -> float:
        values = ", ".join(f"{column} = {value}" for column, value in EXPRESSIONS.items())
        return self.engine.seconds(f"update {table} set {values} where id in ({self._keys})")

    def _update_joined(self, table: str) -> float:
        return update_from_table(self.upsert, table)

    def _mutate(self, table: str) -> float:
        values = ", ".join(f"{column} = {value}" for column, value in EXPRESSIONS.items())
        return self.engine.seconds(
            f"alter table {table} update {values} where id in ({self._keys}) settings mutations_sync = 2"
        )

    @property
    def _keys(self) -> str:
        return f"select id from {self.upsert.source}"

    def by_number(self, numbers: Collection[int]) -> list[Row]:
        """All ways, by the number of changes: the write, a read right after it, and whether both tables are correct."""
        rows = []
        for number in numbers:
            print(f"ways: {number:,} changes", flush=True)
            self.change(number, ("ours", "ours_followed"))
            rows += [{"changes": number, **row} for row in self._measure(self._ways())]
        return rows

    def change(self, number: int, models: Collection[str]) -> None:
        """Switch to this many changes, in the file and in models."""
        self.upsert.change(SHAPES["scattered"], number)
        for model in models:
            self.upsert.add_model(model, "versioned_collapsing")

    def partial(self, number: int) -> list[Row]:
        """Changes of one column: the other columns are null in the change set, and stay as they are."""
        print(f"ways: {number:,} partial changes", flush=True)
        self.upsert.change(SHAPES["scattered"], number)
        values = [
            f"cast({column if column in PARTIAL else 'null'} as {kind}) as {column}"
            for column, (kind, _) in NULLABLE.items()
        ]
        config = {
            "materialized": "versioned_collapsing",
            "combine": dict.fromkeys(("department", "metric1", "metric2"), "coalesce"),
        }
        for model in ("ours", "ours_followed"):
            sql = f"select {', '.join(values)} from {self.upsert.source}"
            self.upsert.add_model_of(sql, model, config)
        ours, base = "versioned_collapsing, combine: coalesce", "base_partial"
        ways = [
            self.ours(ours, "ours", has_view=False, base=base),
            self.ours(f"{ours}, with the view", "ours_followed", base=base),
            self.inserted("CoalescingMergeTree", "coalescing", "base_coalescing", ", ".join(PARTIAL)),
        ]
        return self._measure(ways)

    def _measure(self, ways: list[Way]) -> list[Row]:
        """Every way, with a read after it.

        Raises:
            RuntimeError: the ways ended with different rows.
        """
        figures = interleaved([arm for way in ways for arm in self._arms(way)], self.trials)
        found = {way.name: self.engine.query(way.read()) for way in ways}
        reference = found[ways[0].name]
        if any(rows != reference for rows in found.values()):
            raise RuntimeError(f"the ways differ: {found}")
        return [
            {
                "way": way.name,
                "write": round(figures[way.name].median, 4),
                "sums after it": round(figures[_reader(way)].median, 4),
                "a view of sums is right": self._view_is(way, reference),
            }
            for way in ways
        ]

    def _arms(self, way: Way) -> list[Arm]:
        def write() -> float:
            self.forget_view(way)
            way.prepare()
            if way.has_view:
                self.follow(way)
            return way.write()

        return [Arm(way.name, write), Arm(_reader(way), lambda: self.engine.seconds(f"{way.read()} format Null"))]

    def forget_view(self, way: Way) -> None:
        """Drop the view and its sums."""
        self.engine.command(f"drop view if exists {way.table}_mv sync")
        self.engine.command(f"drop table if exists {way.table}_sums sync")

    def follow(self, way: Way) -> None:
        """A materialized view that sums what is written into the table, starting from the sums of what is there."""
        sums = f"{way.table}_sums"
        self.engine.command(
            f"create table {sums} (department LowCardinality(String), metric1 Int64, n Int64) "
            "engine = SummingMergeTree order by department"
        )
        select = f"select assumeNotNull(department) as department, {way.sums} from {way.table} group by 1"
        self.engine.command(f"insert into {sums} {select}")
        self.engine.command(f"create materialized view {way.table}_mv to {sums} as {select}")

    def _view_is(self, way: Way, reference: list[tuple[Any, ...]]) -> str:
        if not way.has_view:
            return "no view"
        found = self.engine.query(f"select department, sum(metric1), sum(n) from {way.table}_sums {BY_DEPARTMENT}")
        return "yes" if found == reference else "no"


def _reader(way: Way) -> str:
    return f"{way.name}: sums"
