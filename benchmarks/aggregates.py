"""Sums that are kept next to a table, and sums that are computed when they are read."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.measure import Arm, interleaved
from benchmarks.tables import BY_DEPARTMENT, Row
from benchmarks.ways import Way, Ways

TABLE, FOLLOWING, REFRESHED = "table", "following", "refreshed"


@dataclass(frozen=True)
class Aggregate:
    """Where readers find the sums over what a way writes: in its table, or in a view that follows it or is
    refreshed."""

    name: str
    way: Way
    kind: str

    @property
    def view(self) -> str:
        """The name of the refreshable view."""
        return f"{self.way.table}_view"

    def read(self) -> str:
        """The sums by department."""
        if self.kind == TABLE:
            return self.way.read()
        kept = self.view if self.kind == REFRESHED else f"{self.way.table}_sums"
        return f"select department, sum(metric1) as metric1, sum(n) as n from {kept} {BY_DEPARTMENT}"


def measure_aggregates(ways: Ways, number: int) -> list[Row]:
    """Each aggregate after this many changes: the write, the refresh, the read.

    Raises:
        RuntimeError: they differ in the end.
    """
    print(f"aggregates of {number:,} changes", flush=True)
    models = ("ours", "ours_followed", "ours_refreshed")
    ways.change(number, models)
    ours, followed, refreshed = (ways.ours("versioned_collapsing", model) for model in models)
    replacing, replacing_refreshed = (
        ways.inserted("ReplacingMergeTree", table, "base_replacing") for table in ("replacing", "replacing_refreshed")
    )
    aggregates = [
        Aggregate("sums over signed rows", ours, TABLE),
        Aggregate("materialized view of signed rows", followed, FOLLOWING),
        Aggregate("refreshable view of signed rows", refreshed, REFRESHED),
        Aggregate("sums over ReplacingMergeTree FINAL", replacing, TABLE),
        Aggregate("refreshable view of ReplacingMergeTree FINAL", replacing_refreshed, REFRESHED),
    ]
    is_right: dict[str, bool] = {}  # right after the write, without a refresh
    arms = [arm for aggregate in aggregates for arm in _arms(ways, aggregate, is_right)]
    figures = interleaved(arms, ways.trials)
    found = {each.name: ways.engine.query(each.read()) for each in aggregates}
    if len({str(rows) for rows in found.values()}) != 1:
        raise RuntimeError(f"the aggregates differ: {found}")

    def median(name: str) -> float | str:
        return round(figures[name].median, 4) if name in figures else ""

    return [
        {
            "sums": each.name,
            "write": median(f"{each.name}: write"),
            "refresh": median(f"{each.name}: refresh"),
            "read": median(f"{each.name}: read"),
            "right without a refresh": "yes" if is_right[each.name] else "no",
        }
        for each in aggregates
    ]


def _arms(ways: Ways, aggregate: Aggregate, is_right: dict[str, bool]) -> list[Arm]:
    engine, way, view = ways.engine, aggregate.way, aggregate.view

    def write() -> float:
        engine.command(f"drop view if exists {view} sync")
        ways.forget_view(way)
        way.prepare()
        if aggregate.kind == FOLLOWING:
            ways.follow(way)
        if aggregate.kind == REFRESHED:
            engine.command(
                f"create materialized view {view} refresh every 1 year "
                f"engine = MergeTree order by department as {way.read()}"
            )
            engine.command(f"system wait view {view}")
        seconds = way.write()
        is_right[aggregate.name] = engine.query(aggregate.read()) == engine.query(way.read())
        return seconds

    arms = [Arm(f"{aggregate.name}: write", write)]
    if aggregate.kind == REFRESHED:
        statements = (f"system refresh view {view}", f"system wait view {view}")
        arms.append(Arm(f"{aggregate.name}: refresh", lambda: engine.seconds(*statements)))
    statement = f"{aggregate.read()} format Null"
    return [*arms, Arm(f"{aggregate.name}: read", lambda: engine.seconds(statement))]
