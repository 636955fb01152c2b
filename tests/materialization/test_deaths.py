"""A run that dies before any of its statements, with everything that can be in progress at once.

The models of a test are alike, each with views of its own. In one dbt run each of them dies before a different
statement. The next run finds no changes, and completes what had begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying

STRUCTURE = (
    "id Nullable(Int64), part UInt8, region String, n Nullable(Int64), top Int64, _version UInt64, "
    "_is_deleted Bool, _unset Array(String), _is_truncate Bool"
)
COLUMNS = "id, part, region, n, top, _version"
KEYS = range(1, 13)
# fmt: off
FIRST: list[Row] = [(key, key % 3, "EU", key, key, 10, False, [], False) for key in KEYS]
SECOND: list[Row] = [
    (1, 1, "US", 100, 0, 20, False, [], False),          # another partition, greatest keeps 1
    (2, 2, "US", None, 50, 20, False, ["n"], False),     # n as stored
    (2, 1, "AP", 7, 40, 21, False, [], False),           # a second change of the key
    (3, 0, "EU", 3, 3, 11, True, [], False),             # deleted
    (4, 0, "EU", 4, 4, 12, True, [], False),             # deleted, and there again
    (4, 0, "US", 5, 1, 13, False, [], False),
    (5, 2, "EU", 5, 5, 9, False, [], False),             # late
    (6, 0, "EU", 6, 6, 10, False, [], False),            # a duplicate
    (7, 2, "AP", 70, 70, 20, False, [], False),          # unbalanced: planted below
    (20, 1, "AP", 20, 20, 20, False, [], False),         # new
    (21, 1, "AP", 21, 21, 20, True, [], False),          # deleted, never there
]
TRUNCATE: Row = (None, 0, "", 0, 0, 5, False, [], True)
# fmt: on
PLANTED = "(7, 2, 'EU', 7, 7, 5, 1)"
SUMS = {
    "to": "select region, sum(top * _sign) as total, sum(_sign) as c from {} group by region",
    "inner": "select part, sumState(top * _sign) as total, sumState(toInt64(_sign)) as c from {} group by part",
    "cascade": "select region, total * 10 as total, c from {}",
}


State = tuple[list[Row], list[Row]]


@dataclass
class Fleet:
    """Models that are alike, and the runs in which they die; ``deaths`` gives the statement for each model."""

    project: CollapsingProject
    deaths: Sequence[int]
    has_views: bool
    before: State = ([], [])
    after: State = ([], [])

    @property
    def names(self) -> list[str]:
        return [f"t{number:02}x" for number in self.deaths]

    def build(self, config: dict[str, Any], first: list[Row], structure: str, sql: str) -> None:
        for name in self.names:
            self.project.add_model(name, config, sql)
        self.project.replace_rows("changes", structure, first)
        self.project.build()
        if self.has_views:
            for name in self.names:
                self._add_views(name)

    def _add_views(self, name: str) -> None:
        columns = "(region String, total Int64, c Int64) engine = SummingMergeTree order by region"
        for statement in (
            f"create table {name}_to {columns}",
            f"create table {name}_cascade {columns}",
            f"create materialized view {name}_to_mv to {name}_to as {SUMS['to'].format(name)}",
            f"create materialized view {name}_cascade_mv to {name}_cascade as {SUMS['cascade'].format(f'{name}_to')}",
            f"create materialized view {name}_inner engine = AggregatingMergeTree order by part as {SUMS['inner'].format(name)}",
            f"insert into {name}_to {SUMS['to'].format(name)}",
            f"insert into {name}_inner {SUMS['inner'].format(name)}",
        ):
            self.project.command(statement)

    def die(self, structure: str, second: list[Row]) -> set[str]:
        """Each model dies at its statement. Return the models that the next run completes."""
        self.before = self.state(self.names[0])
        self.project.replace_rows("changes", structure, second)
        begin = self.project.query("select toString(max(at)) from versioned_collapsing_ledger")[0][0]
        # The last one must live, because the others are compared with it at the end.
        with dying(dict(zip(self.names, self.deaths, strict=True))) as begun:
            outcomes = self.project.run()
        self.after = self.state(self.names[-1])
        assert outcomes[self.names[-1]].status == "success", f"more statements than models: {begun}"
        lived = [name for name in self.names if outcomes[name].status == "success"]
        query = f"select model from versioned_collapsing_ledger where status in ('chunk staged', 'started') and at > '{begin}'"
        started = {name for (name,) in self.project.query(query)}
        assert set(lived) < started < set(self.names)
        return started

    def rows(self, name: str) -> list[Row]:
        """The rows whose signs do not sum to 0, with their sums."""
        return self.project.query(
            f"select {COLUMNS}, sum(_sign) as net from {name} group by all having net <> 0 order by all"
        )

    def state(self, name: str) -> State:
        """Its rows, and the deletes that it remembers."""
        deletes = self.project.query(f"select id, max(_version) from {name}__tombstones group by id order by id")
        return self.rows(name), deletes

    def check(self, name: str, state: State) -> None:
        assert self.state(name) == state, name
        query = self.project.query
        if self.has_views:
            order = "having c <> 0 order by 1"
            by_region = query(f"{SUMS['to'].format(name)} {order}")
            by_part = query(f"select part, sum(top * _sign), sum(_sign) as c from {name} group by part {order}")
            assert (
                query(f"select region, sum(total), sum(c) as c from {name}_to group by region {order}") == by_region
            ), name
            assert (
                query(f"select region, intDiv(sum(total), 10), sum(c) as c from {name}_cascade group by region {order}")
                == by_region
            ), name
            assert (
                query(
                    f"select part, sumMerge(total), sumMerge({name}_inner.c) as c from {name}_inner group by part {order}"
                )
                == by_part
            ), name


CONFIG: dict[str, Any] = {"unique_key": "id", "partition_by": "part", "combine": {"top": "greatest", "n": "coalesce"}}


@pytest.mark.parametrize(
    ("kind", "first", "last", "has_views"),
    [("atomic", 0, 32, False), ("journal", 2, 40, True), pytest.param("atomic", 4, 32, False, marks=pytest.mark.all)],
)
def test_a_run_that_died_is_completed(
    make_project: MakeProject, is_exhaustive: bool, kind: str, first: int, last: int, has_views: bool
) -> None:
    """Before every eighth statement, unless the test is exhaustive; for steps that both share, before every fourth."""
    every = range(first // 4, last + 1, 1 if has_views else 2) if is_exhaustive else range(first, last, 8)
    project = make_project(f"die_{kind}_{first}")
    project.set_variables(versioned_collapsing_block_rows=4)
    fleet = Fleet(project, sorted({*every, last}), has_views)
    fleet.build({**CONFIG, "chunks": 2}, FIRST, STRUCTURE, "select * from changes")
    for name in fleet.names:
        project.command(f"insert into {name} ({COLUMNS}, _sign) values {PLANTED}")
    started = fleet.die(STRUCTURE, [*SECOND, TRUNCATE])
    project.replace_rows("changes", STRUCTURE, [])
    outcomes = project.run()
    failed = {name: outcome for name, outcome in outcomes.items() if outcome.status != "success"}
    assert not failed, failed
    for name in fleet.names:
        fleet.check(name, fleet.after if name in started else fleet.before)
    # The deletes and the truncate are remembered too.
    late: list[Row] = [
        (3, 0, "XX", 0, 0, 11, False, [], False),
        (21, 0, "XX", 0, 0, 20, False, [], False),
        (99, 0, "XX", 0, 0, 5, False, [], False),
    ]
    project.replace_rows("changes", STRUCTURE, [*SECOND, *late])
    some = sorted(started)[:: 6 if is_exhaustive else 3]
    project.build("--select", *some)
    for name in some:
        assert fleet.rows(name) == fleet.after[0], name
