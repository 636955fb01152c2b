"""The whole life of a table, drawn by hypothesis, next to the oracle.

Runs, late and repeated events, truncates, deaths before any statement, changes of options and columns, full refreshes,
rows
from other writers and `rebalance`, tombstones that expire, merges: in any order. After every step the live rows,
the signed sums, the view, the change feed and the leftovers of a run must agree with the oracle. `--lives` draws more
lives, and different ones each time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.oracle import Event, Oracle
from tests.support.statements import dying

SCHEMA = "life"
REGIONS = ("EU", "US", "it's")
COLUMNS = ("y", "z")  # added to the table during its life
LEDGER = "versioned_collapsing_ledger"
CONFIG: dict[str, Any] = {
    "unique_key": "id",
    "partition_by": "region",
    "change_feed": True,
    "on_schema_change": "append_new_columns",
}
SUMS = "select region, sum(ifNull(x, 0) * _sign) as total, sum(_sign) as n from {} group by region"
SHORT = settings(max_examples=2, stateful_step_count=8, derandomize=True, phases=[Phase.generate])


# The payload of an event follows from its key and its version, so that no two events conflict.
Row = tuple[Any, ...]


def change(key: int, version: int, is_deleted: bool = False, is_truncate: bool = False) -> Event:
    return Event(key, version, is_deleted=is_deleted, is_truncate=is_truncate)


EVENTS = st.lists(
    st.builds(change, st.integers(0, 7), st.integers(1, 30), st.sampled_from([False, False, True])), max_size=12
)
TRUNCATES = st.lists(st.builds(change, st.just(0), st.integers(1, 15), is_truncate=st.just(True)), max_size=1)
DEATHS = st.integers(0, 24)


class Life(RuleBasedStateMachine):
    """A table, starting from nothing."""

    UUID = f"select uuid from system.tables where database = '{SCHEMA}' and name = 'target'"
    project: CollapsingProject

    def __init__(self) -> None:
        super().__init__()
        self.oracle = Oracle()
        self.since: dict[str, int] = {}  # the version from which a later column has values
        self.options: dict[str, Any] = {}
        self.sent: list[list[Event]] = []
        self.dead: tuple[str, list[Event]] | None = None  # the UUID of its table, and its events
        self.has_died = False
        self.has_whole_feed = True
        self.base = 0
        self.project.client.command(f"drop database if exists {SCHEMA} sync")
        self.project.client.command(f"create database {SCHEMA}")

    # What happens to the table

    @initialize(events=EVENTS)
    def build(self, events: list[Event]) -> None:
        self._configure()
        self._run(events)

    @rule(events=EVENTS, truncates=TRUNCATES)
    def apply(self, events: list[Event], truncates: list[Event]) -> None:
        self._run(self._later(events) + (self._later(truncates) if len(events) > 9 else []))

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def apply_again(self, data: st.DataObject) -> None:
        """Repeat earlier changes, including those of a run that died."""
        self._run(data.draw(st.sampled_from(self.sent)))

    @rule(events=EVENTS, death=DEATHS)
    def die(self, events: list[Event], death: int) -> None:
        """The run dies before a statement, if it has that many."""
        self._die(self._later(events), death)

    @rule(events=EVENTS, death=st.none() | st.integers(0, 40))
    def refresh(self, events: list[Event], death: int | None) -> None:
        self._die(self._later(events), death, "--full-refresh")

    @rule(
        chunks=st.sampled_from([1, 2, 3]),
        publish=st.sampled_from(["atomic", "journal", "auto"]),
        remember=st.sampled_from([True, "2 days"]),
    )
    def configure(self, **options: Any) -> None:
        self.options = options
        self._configure()

    @precondition(lambda self: len(self.since) < len(COLUMNS) and self.dead is None)
    @rule(events=EVENTS)
    def add_column(self, events: list[Event]) -> None:
        """Earlier rows have no value; an earlier version must not get one."""
        name = COLUMNS[len(self.since)]
        self.base += 30
        self.since[name] = self.base
        for key, row in self.oracle.live.items():
            self.oracle.live[key] = row._replace(values=(*row.values, None))
        self._run(self._later(events))

    @precondition(lambda self: self.dead is None and self.options.get("remember") == "2 days")
    @rule()
    def expire(self) -> None:
        self._run([])  # applies the option to the table
        if self.project.query("exists table target__tombstones") == [(1,)]:
            self.project.command(
                "alter table target__tombstones update _remembered_at = _remembered_at - interval 3 day "
                "where true settings mutations_sync = 2"
            )
            self.project.command("optimize table target__tombstones final")
        self.oracle.tombstones.clear()

    @precondition(lambda self: self.dead is None and self.oracle.live)
    @rule(sign=st.sampled_from([1, -1]))
    def repair(self, sign: int) -> None:
        """Somebody duplicates a row, or writes a cancel row for a key that does not exist."""
        key = min(self.oracle.live)
        changed = "" if sign == 1 else "99 as id, -1 as _sign"
        replaced = f" replace ({changed})" if changed else ""
        self.project.command(f"insert into target select *{replaced} from target final where id = {key} and _sign = 1")
        self.project.operation("rebalance", model="target", dry_run=False)
        self.has_whole_feed = False
        self._run([])

    @rule()
    def merge(self) -> None:
        self.project.command("optimize table target final")
        if self.dead is None:
            self._check()

    # Runs

    def _later(self, events: list[Event]) -> list[Event]:
        """Events that are a little later each time: most are new, some are late."""
        self.base += 8
        return [event._replace(version=event.version + self.base) for event in events]

    def _configure(self) -> None:
        options = dict(self.options)
        if "remember" in options:
            options["remember_deletes"] = options.pop("remember")
        self.project.add_model("target", {**CONFIG, **options}, "select * from changes")

    def _land(self, events: list[Event]) -> None:
        later = "".join(f"{name} Nullable(Int64), " for name in self.since)
        self.project.replace_rows(
            "changes",
            f"id Int64, region String, x Nullable(Int64), {later}_version UInt64, _is_deleted Bool, _is_truncate Bool",
            [
                (event.key, *event.values, event.version, event.is_deleted, event.is_truncate)
                for event in self._filled(events)
            ],
        )

    def _filled(self, events: Iterable[Event]) -> list[Event]:
        """Events with their values for the table's columns."""
        found = []
        for event in events:
            key, version = event.key, event.version
            later = [key + version if version > since else None for since in self.since.values()]
            x = None if version % 5 == 0 else version * 10 + key
            found.append(event._replace(values=(REGIONS[version // 3 % 3], x, *later)))
        return found

    def _run(self, events: list[Event]) -> None:
        """A run that succeeds, completes what an earlier one has begun, and leaves everything correct."""
        self._land(events)
        outcomes = self.project.run()
        assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
        self._settle()
        self.oracle.apply(self._filled(events))
        self.sent.append(events)
        self._check()

    def _die(self, events: list[Event], death: int | None, *arguments: str) -> None:
        """A run that dies, unless it ends first. The next run deals with what it has left."""
        if self.dead is not None:
            self._run([])
        self._land(events)
        uuid = self._uuid()
        with dying({"target": death}):
            outcome = self.project.run("--select", "target", *arguments)["target"]
        self.sent.append(events)
        if outcome.status == "success":
            if arguments:
                self._begin_anew()
            self.oracle.apply(self._filled(events))
            self._run([])
            return
        assert death is not None, outcome.message
        assert "target died here" in outcome.message, outcome.message
        self.has_died = True
        if arguments:
            if self._uuid() != uuid:
                self._begin_anew()
                self.oracle.apply(self._filled(events))
        else:
            self.dead = (self._invocation(), events)

    def _begin_anew(self) -> None:
        self.oracle = Oracle()
        self.has_whole_feed = True

    def _settle(self) -> None:
        """What a dead run had begun is in the table if the ledger says so; once it is `started`, it must be."""
        if self.dead is None:
            return
        invocation, events = self.dead
        self.dead = None
        statuses = self.project.query(
            f"select distinct status from {LEDGER} where run_id in "
            f"(select run_id from {LEDGER} where invocation_id = '{invocation}')"
        )
        found = {status for (status,) in statuses}
        assert "applied" in found or "started" not in found, found
        if "applied" in found:
            self.oracle.apply(self._filled(events))

    def _uuid(self) -> Any:
        return self.project.query(self.UUID)

    def _invocation(self) -> str:
        return str(self.project.events[-1].info.invocation_id)

    # The invariants

    def _check(self) -> None:
        names = ", ".join(("id", "region", "x", *self.since, "_version"))
        rows = sorted(self.oracle.rows, key=repr)
        query = self.project.query
        live = query(f"select {names} from target final where _sign = 1")
        assert sorted(live, key=repr) == rows
        nets = "select {names}, sum(_sign) as net from {table}{where} group by {names} having net <> 0"
        found = query(nets.format(names=names, table="target", where=""))
        assert sorted(found, key=repr) == [(*row, 1) for row in rows]
        view = query("select region, sum(total), sum(n) as c from sums group by region having c <> 0 order by region")
        assert view == self._sums()
        if self.has_whole_feed and query("exists table target__feed") == [(1,)]:
            where = (
                f" where _apply in (select apply from {LEDGER} where status in ('applied', 'rebalanced') "
                f"and target_uuid = ({self.UUID}))"
            )
            found = query(nets.format(names=names, table="target__feed", where=where))
            assert sorted(found, key=repr) == [(*row, 1) for row in rows]
        # What a dead run had staged stays until a change set needs the same tables.
        left = query(
            f"select name, total_rows from system.tables where database = '{SCHEMA}' and position(name, '__dbt_') > 0 "
            f"and (total_rows > 0 and not {self.has_died} or endsWith(name, '__dbt_lock'))"
        )
        assert left == []

    def _sums(self) -> list[Row]:
        groups: dict[str, list[int]] = {}
        for _, region, x, *_ in self.oracle.rows:
            total = groups.setdefault(region, [0, 0])
            total[0] += x or 0
            total[1] += 1
        return sorted((region, *total) for region, total in groups.items())

    def teardown(self) -> None:
        self._run([])
        rows = [(*row[:3], row[-1]) for row in self.oracle.rows]
        self.project.replace_rows("reference", "id Int64, region String, x Nullable(Int64), _version UInt64", rows)
        self.project.operation("reconcile", model="target", reference="reference")


def test_a_life(make_project: MakeProject, request: pytest.FixtureRequest) -> None:
    lives = request.config.getoption("--lives")
    project = make_project(SCHEMA)
    view = {"materialized": "versioned_collapsing_view", "order_by": "region"}
    project.add_model("sums", view, SUMS.format("{{ ref('target') }}"))
    drawn = settings(max_examples=lives, stateful_step_count=20) if lives else SHORT
    life = type("ALife", (Life,), {"project": project})
    run_state_machine_as_test(
        life,
        settings=settings(
            drawn, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True, report_multiple_bugs=False
        ),
    )
