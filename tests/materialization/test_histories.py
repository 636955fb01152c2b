"""Random histories through the materialization, many next to each other as keys of one table.

After every run, the live rows, the signed sums, an aggregating projection and the ledger must agree with the oracle;
with a journal, so must three kinds of views. Runs die at random statements, and tables are merged at random. The long
form is `make soak`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest

from tests.support.balance import counts_of_last_apply
from tests.support.collapsing_project import CollapsingProject
from tests.support.oracle import Event, Oracle
from tests.support.statements import dying

STRUCTURE = (
    "tenant UInt32, id String, region String, amount Int64, note Nullable(String), day Date, "
    "_version UInt64, _is_deleted Bool"
)
COLUMNS = "tenant, id, region, amount, note, day, _version"
SUMS = "select region, sum(amount * _sign) as amount, sum(_sign) as n from {source} group by region"
MODEL = {
    "unique_key": ["tenant", "id"],
    "order_by": ["region", "tenant", "id"],
    "partition_by": "toYYYYMM(day)",
    "projections": [{"name": "by_region", "query": "select region, sum(amount * _sign), sum(_sign) group by region"}],
}


def row(event: Event) -> tuple[object, ...]:
    return (*event.key, *event.values, event.version, event.is_deleted)


def sums(oracle: Oracle) -> list[tuple[str, int, int]]:
    regions: dict[str, tuple[int, int]] = {}
    for region, amount, *_ in (live.values for live in oracle.live.values()):
        total, n = regions.get(region, (0, 0))
        regions[region] = (total + amount, n + 1)
    return sorted((region, *found) for region, found in regions.items())


def histories(chance: random.Random, keys: int, runs: int, events: int) -> Iterator[list[Event]]:
    """The change sets of the runs, with up to ``events`` events in total for each of ``keys`` keys.

    Most events come in order, some late, some repeat old ones, some come twice in one change set. Some deletes have the
    version of what they delete. In some runs, all events are new, and of one region and month.
    """
    left = [chance.randint(1, events) for _ in range(keys)]
    version = [chance.choice([0, 5, 95]) for _ in range(keys)]
    sent: list[Event] = []
    late: list[Event] = []
    for run in range(runs):
        batch: list[Event] = []
        regions, months = ["EU", "US", "AP"], [1, 2, 3, 4]
        is_of_one_region = chance.random() < 0.4
        if is_of_one_region:
            regions, months = [chance.choice(regions)], [chance.choice(months)]
        for key in range(keys):
            share = left[key] / (runs - run)
            for _ in range(min(left[key], int(share) + (chance.random() < share % 1))):
                left[key] -= 1
                is_deleted = chance.random() < 0.2
                version[key] += chance.choice([0, 1, 2] if is_deleted else [1, 1, 2])
                payload = (
                    chance.choice(regions),
                    chance.randrange(100),
                    chance.choice([None, "a"]),
                    date(2025, chance.choice(months), 1),
                )
                change = Event((key % 7, f"k{key}"), version[key], payload, is_deleted=is_deleted)
                (late if chance.random() < 0.1 else batch).append(change)
        if not is_of_one_region:
            chance.shuffle(late)
            batch += late[: len(late) // 2]
            del late[: len(late) // 2]
            batch += chance.sample(sent, min(len(sent), keys // 4))
        sent = chance.sample([*sent, *batch], min(len(sent) + len(batch), 20 * keys))
        batch += chance.sample(batch, len(batch) // 10)
        chance.shuffle(batch)
        yield batch


@dataclass
class History:
    """A project whose table applies random change sets, next to the oracle."""

    project: CollapsingProject
    config: dict[str, Any] = field(default_factory=dict)
    oracle: Oracle = field(default_factory=Oracle)
    views: tuple[str, ...] = ()
    died: int = 0

    def prepare(self) -> None:
        """Build the table."""
        self.project.add_model("target", {**MODEL, **self.config}, "select * from changes")
        self.project.replace_rows("changes", STRUCTURE, [])
        assert self.project.run()["target"].status == "success"

    def add_views(self) -> None:
        """One view of each kind."""
        project = self.project
        view = {"materialized": "versioned_collapsing_view", "order_by": "region"}
        project.add_model("sums", view, SUMS.format(source="{{ ref('target') }}"))
        stock = {"materialized": "materialized_view", "order_by": "region", "engine": "SummingMergeTree"}
        project.add_model("stock_sums", stock, SUMS.format(source="{{ ref('target') }}"))
        assert {outcome.status for outcome in project.run().values()} == {"success"}
        project.command(
            "create materialized view plain_sums engine = SummingMergeTree order by region as "
            + SUMS.format(source="target")
        )
        self.views = ("sums", "stock_sums", "plain_sums")

    def run(self, changes: list[Event], death: int | None = None) -> None:
        """Apply a change set, in a run that dies before its ``death``-th statement unless that is None."""
        self.project.replace_rows("changes", STRUCTURE, map(row, changes))
        begun = self._applies_begun()
        with dying({"target": death}):
            outcome = self.project.run("--select", "target")["target"]
        if outcome.status == "success":
            counts = self.oracle.apply(changes)
            if changes:
                assert counts_of_last_apply(self.project.query, self.project.schema, "target") == counts
            self.check()
            return
        assert death is not None, outcome.message
        assert "target died here" in outcome.message
        self.died += 1
        # The next run brings other changes: what the dead run had begun must be completed, or must not
        # have begun at all.
        if self._applies_begun() > begun:
            self.oracle.apply(changes)
        self.run([])

    def _applies_begun(self) -> int:
        """The number of applies that the next run completes, or has completed."""
        query = "select uniqExact(run_id) from versioned_collapsing_ledger where status in ('chunk staged', 'started')"
        return int(self.project.query(query)[0][0])

    def check(self) -> None:
        query = self.project.query
        rows = sorted(self.oracle.rows, key=repr)
        regions = sums(self.oracle)
        live = query(f"select {COLUMNS} from target final where _sign = 1")
        assert sorted(live, key=repr) == rows
        net = query(f"select {COLUMNS}, sum(_sign) as net from target group by {COLUMNS} having net <> 0")
        assert {net_row[-1] for net_row in net} <= {1}
        assert sorted((net_row[:-1] for net_row in net), key=repr) == rows
        by_region = f"{SUMS.format(source='target')} having n <> 0 order by region"
        assert query(f"{by_region} settings optimize_use_projections = 0") == regions
        assert query(f"{by_region} settings force_optimize_projection = {bool(net):d}") == regions
        if self.views:
            assert self.project.run("--select", "sums")["sums"].status == "success"
        for view in self.views:
            kept = query(
                f"select region, sum(amount), sum(n) as c from {view} group by region having c <> 0 order by region"
            )
            assert kept == regions, view


@pytest.mark.parametrize(("name", "config"), [("journal", {}), ("chunked", {"chunks": 3})])
def test_random_histories(
    make_project: Callable[[str], CollapsingProject], request: pytest.FixtureRequest, name: str, config: dict[str, Any]
) -> None:
    keys, runs, events = request.config.getoption("--histories")
    chance = random.Random(f"{name} {keys}")
    history = History(make_project(f"histories_{name}"), config)
    history.prepare()
    if name == "journal":
        history.add_views()
    for changes in histories(chance, keys, runs, events):
        history.run(changes, chance.randrange(16) if chance.random() < 0.4 else None)
        if chance.random() < 0.3:
            history.project.command("optimize table target final")
    assert len(history.oracle.live) > keys / 3
    assert history.oracle.tombstones
    assert history.died
