"""What an insert and an apply cost, depending on what follows the table, its parts, and its layout."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from benchmarks.engine import SCHEMA, Engine
from benchmarks.measure import Arm, Figures, interleaved
from benchmarks.tables import BY_DEPARTMENT, COLLAPSING, COLUMNS, SIGN, SIGNED, Row, make_base
from benchmarks.upsert import SETTINGS, SHAPES, Upsert

Dress = Callable[[str], Any]  # prepares a table before it is measured
GROUPS = {  # of the sums that projections and views keep
    "department": "department",
    "band": "id % 1000",
    "bucket": "id % 100",
}
FEW = 3  # the most parts that a partition of a half-optimized table has
LARGEST_MERGE = "max_bytes_to_merge_at_max_space_in_pool"
LONGEST_WAIT = 600  # seconds
SMALL_STRINGS = "LowCardinality(String)"


class Inserts:
    """A collapsing table, and changes spread over all of it."""

    def __init__(self, engine: Engine, rows: int, changes: int, trials: int) -> None:
        self.engine, self.trials = engine, trials
        self.upsert = Upsert(engine, SHAPES["scattered"], rows, changes, ["collapsing", "merge"])

    def beside(self, numbers: Collection[int]) -> list[Row]:
        """An insert and an apply, with these numbers of projections in the table, and of views on it."""
        print("inserts: projections and views", flush=True)
        dresses: dict[str, Dress] = {"neither": lambda table: None}
        for number in numbers:
            groups, plural = list(GROUPS)[:number], "s" if number > 1 else ""
            dresses[f"{number} projection{plural}"] = self._projections(groups)
            dresses[f"{number} materialized view{plural}"] = self._views(groups)
        arms, models = [], []
        for index, (name, dress) in enumerate(dresses.items()):
            models.append(f"ours_{index}")
            self.upsert.add_model(models[-1], "versioned_collapsing")
            arms += [self._insert(name, f"plain_{index}", dress)]
            arms += [self._apply(name, models[-1], dress)]
        figures = interleaved(arms, self.trials)
        self._check(models)
        return [{"beside": name, **_row(figures, name, "insert", "apply")} for name in dresses]

    def by_parts(self, applies: int) -> list[Row]:
        """A table after this many applies: not merged, partly merged, and fully merged."""
        print(f"inserts: {applies} applies, merged or not", flush=True)
        self._grow(applies)
        states: dict[str, Dress] = {
            "not merged": lambda table: None,
            "semi-optimized": self._merge_some,
            "OPTIMIZE FINAL": lambda table: self.engine.command(f"optimize table {table} final"),
        }
        models = {state: f"state_{index}" for index, state in enumerate(states)}
        for model in models.values():
            self.upsert.add_model(model, "versioned_collapsing")
        parts: dict[str, Row] = {}
        arms = []
        for state, merge in states.items():
            arms += [
                self._merged(state, models[state], merge, parts),
                *self._readers(state, models[state]),
                Arm(f"{state}: apply", self._run(models[state])),
            ]
        figures = interleaved(arms, self.trials)
        self._check(models.values())
        measured = ("merge", "sums by sign", "FINAL", "one key", "apply")
        return [{"state": state, **parts[state], **_row(figures, state, *measured)} for state in states]

    def layouts(self, granularities: Collection[int]) -> list[Row]:
        """Granules of several sizes; and a column of few different strings, stored as such or as plain String."""
        print("inserts: layouts", flush=True)
        layouts = {f"index_granularity {size}": (size, SMALL_STRINGS) for size in granularities}
        granularity = SETTINGS["index_granularity"]
        layouts[f"index_granularity {granularity}, String"] = (granularity, "String")
        arms, models, sizes = [], [], {}
        for index, (name, (size, strings)) in enumerate(layouts.items()):
            base, model = f"base_{index}", f"layout_{index}"
            columns = COLUMNS | SIGN | {"department": (strings, "department")}
            settings = {**SETTINGS, "index_granularity": size}
            make_base(self.upsert, base, COLLAPSING, columns, settings)
            sizes[name] = self._size(base)
            department = f"cast(department as {strings}) as department"
            self.upsert.add_model_of(
                f"select id, {department}, metric1, metric2, _version from {self.upsert.source}",
                model,
                {"materialized": "versioned_collapsing"},
            )
            models.append(model)
            arms += [
                self._insert(name, f"plain_{index}", base=base),
                self._apply(name, model, base=base),
                *self._readers(name, model),
            ]
        figures = interleaved(arms, self.trials)
        self._check(models)
        measured = ("insert", "apply", "sums by sign", "FINAL", "one key")
        return [{"layout": name, "MiB": sizes[name], **_row(figures, name, *measured)} for name in layouts]

    def _insert(self, name: str, table: str, dress: Dress | None = None, base: str = "base_collapsing") -> Arm:
        """Insert only the new states, into a clone of the base."""

        def run() -> float:
            self._drop_views(table)
            self.engine.clone(base, table)
            if dress:
                dress(table)
            columns = self.upsert.columns
            return self.engine.seconds(
                f"insert into {table} ({columns}, _sign) select {columns}, 1 from {self.upsert.source}"
            )

        return Arm(f"{name}: insert", run)

    def _apply(self, name: str, model: str, dress: Dress | None = None, base: str = "base_collapsing") -> Arm:
        """Every ClickHouse statement of `dbt run`, on a clone of the base."""

        def run() -> float:
            self._drop_views(model)
            self.upsert.adopt(model, base)
            if dress:
                dress(model)
            return self._run(model)()

        return Arm(f"{name}: apply", run)

    def _run(self, model: str) -> Callable[[], float]:
        return lambda: self.engine.dbt("run", "--select", model)

    def _readers(self, name: str, table: str) -> list[Arm]:
        """Readers of the table in its current state."""
        queries = {
            "sums by sign": f"select department, {SIGNED} from {table} {BY_DEPARTMENT}",
            "FINAL": f"select department, sum(metric1), count() from {table} final {BY_DEPARTMENT}",
            "one key": f"select * from {table} final where id = {self.upsert.rows // 2}",
        }

        def arm(reader: str, query: str) -> Arm:
            return Arm(f"{name}: {reader}", lambda: self.engine.seconds(f"{query} format Null"))

        return [arm(reader, query) for reader, query in queries.items()]

    def _projections(self, groups: Collection[str]) -> Dress:
        """They hold the sums of what is inserted from then on."""

        def dress(table: str) -> None:
            self.engine.command(f"alter table {table} modify setting deduplicate_merge_projection_mode = 'rebuild'")
            for group in groups:
                self.engine.command(f"alter table {table} add projection by_{group} ({_sums_by(group)})")

        return dress

    def _views(self, groups: Collection[str]) -> Dress:
        """They hold the sums of what is inserted from then on."""

        def dress(table: str) -> None:
            for group in groups:
                self.engine.command(
                    f"create materialized view {table}_{group} engine = SummingMergeTree "
                    f"order by {group} as {_sums_by(group, table)}"
                )

        return dress

    def _drop_views(self, table: str) -> None:
        for group in GROUPS:
            self.engine.command(f"drop view if exists {table}_{group} sync")

    def _grow(self, applies: int) -> None:
        """Make the table that all states start from. The next changes are ready to be applied."""
        for apply in range(1, applies + 1):
            self.upsert.change(SHAPES["scattered"], self.upsert.changes, apply=apply)
            self.upsert.add_model("grown", "versioned_collapsing")
            if apply == 1:
                self.upsert.adopt("grown")
            self._run("grown")()
        self.upsert.change(SHAPES["scattered"], self.upsert.changes, apply=applies + 1)

    def _merged(self, state: str, model: str, merge: Dress, parts: dict[str, Row]) -> Arm:
        """Bring the grown table into a state, and store its parts in ``parts``."""

        def run() -> float:
            self.upsert.adopt(model, "grown")
            started = time.perf_counter()
            merge(model)
            seconds = time.perf_counter() - started
            counts = self._parts(model)
            ((rows,),) = self.engine.query(f"select count() from {model}")
            parts[state] = {"rows": rows, "parts": sum(counts.values()), "most in a partition": max(counts.values())}
            return seconds

        return Arm(f"{state}: merge", run)

    def _merge_some(self, table: str) -> None:
        """Merge what the applies wrote, until no partition has more than a few parts.

        The setting keeps the large part of each partition out of merges. With a partition, `optimize table` would merge
        all of its parts.

        Raises:
            RuntimeError: ClickHouse finds nothing more to merge.
        """
        self.engine.command(f"alter table {table} modify setting {LARGEST_MERGE} = {self._largest_part(table) - 1}")
        deadline = time.monotonic() + LONGEST_WAIT
        while max(self._parts(table).values()) > FEW:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{table} has partitions of more than {FEW} parts")
            self.engine.command(f"optimize table {table}")
        self.engine.command(f"alter table {table} modify setting {LARGEST_MERGE} = 1")

    def _parts(self, table: str) -> dict[str, int]:
        """The number of parts of each partition."""
        return dict(
            self.engine.query(
                "select partition_id, count() from system.parts "
                f"where active and database = '{SCHEMA}' and table = '{table}' group by 1"
            )
        )

    def _largest_part(self, table: str) -> int:
        ((size,),) = self.engine.query(
            f"select max(bytes_on_disk) from system.parts where active and database = '{SCHEMA}' and table = '{table}'"
        )
        return int(size)

    def _size(self, table: str) -> float:
        """The size in MiB."""
        ((size,),) = self.engine.query(
            f"select sum(bytes_on_disk) from system.parts where active and database = '{SCHEMA}' and table = '{table}'"
        )
        return round(float(size) / 2**20, 1)

    def _check(self, tables: Collection[str]) -> None:
        """All tables ended with the same rows.

        Raises:
            RuntimeError: they did not.
        """
        found = {
            table: self.engine.query(f"select toString(department), {SIGNED} from {table} group by 1 order by 1")
            for table in tables
        }
        if len({str(rows) for rows in found.values()}) != 1:
            raise RuntimeError(f"the tables differ: {found}")


def _sums_by(group: str, table: str | None = None) -> str:
    source = f"from {table} " if table else ""
    return f"select {GROUPS[group]} as {group}, {SIGNED} {source}group by {group}"


def _row(figures: dict[str, Figures], name: str, *measured: str) -> Row:
    return {what: round(figures[f"{name}: {what}"].median, 4) for what in measured}
