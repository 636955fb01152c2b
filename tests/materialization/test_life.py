"""The whole life of a table as hypothesis draws it, next to a plain Python model that knows the truth.

Runs, late events, events that come again, truncates, deaths before any statement, options and columns that change,
full refreshes, rows that others write and `repair_collapse`, tombstones that expire, merges: in any order. After every
step live rows, signed sums, the view, the change feed and what a run leaves behind must be as the model says.
`--lives` draws more of them, and other ones each time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying

SCHEMA = "life"
REGIONS = ("EU", "US", "it's")
COLUMNS = ("y", "z")  # which a table gets in its life
LEDGER = "versioned_collapsing_ledger"
CONFIG: dict[str, Any] = {
    "unique_key": "id",
    "partition_by": "region",
    "change_feed": True,
    "on_schema_change": "append_new_columns",
}
SUMS = "select region, sum(ifNull(x, 0) * _sign) as total, sum(_sign) as n from {} group by region"
SHORT = settings(max_examples=2, stateful_step_count=8, derandomize=True, phases=[Phase.generate])


@dataclass(frozen=True)
class Event:
    """A change of a key. Its payload follows from key and version, so that none is in conflict with another."""

    key: int
    version: int
    is_deleted: bool = False
    is_truncate: bool = False


Row = tuple[Any, ...]


@dataclass
class Truth:
    """What the table holds and remembers; ``since`` has the version from which on a later column has values."""

    live: dict[int, Row] = field(default_factory=dict)
    deleted: dict[int, int] = field(default_factory=dict)
    truncated_at: int = 0
    since: dict[str, int] = field(default_factory=dict)

    def payload(self, event: Event) -> Row:
        given = [
            event.key + event.version if event.version > since else None
            for since in self.since.values()
        ]
        x = None if event.version % 5 == 0 else event.version * 10 + event.key
        return (event.key, REGIONS[event.version // 3 % 3], x, *given, event.version)

    def apply(self, events: Iterable[Event]) -> None:
        """Apply a change set: of each key the highest version counts, and at one version a delete."""
        newest: dict[int, Event] = {}
        for event in events:
            if event.is_truncate:
                self.truncated_at = max(self.truncated_at, event.version)
            else:
                order = (event.version, event.is_deleted)
                old = newest.get(event.key)
                if old is None or order > (old.version, old.is_deleted):
                    newest[event.key] = event
        gone = {key for key, row in self.live.items() if row[-1] <= self.truncated_at}
        for key in gone:
            del self.live[key]
        for key, event in newest.items():
            stored = max(self.live.get(key, (0,))[-1], self.deleted.get(key, 0))
            if event.version <= self.truncated_at:
                continue
            if event.is_deleted and event.version >= stored:
                self.live.pop(key, None)
                self.deleted[key] = event.version
            elif not event.is_deleted and event.version > stored:
                self.live[key] = self.payload(event)

    def sums(self) -> list[Row]:
        groups: dict[str, list[int]] = {}
        for _, region, x, *_ in self.live.values():
            total = groups.setdefault(region, [0, 0])
            total[0] += x or 0
            total[1] += 1
        return sorted((region, *total) for region, total in groups.items())


EVENTS = st.lists(
    st.builds(
        Event,
        st.integers(0, 7),
        st.integers(1, 30),
        st.sampled_from([False, False, True]),
    ),
    max_size=12,
)
TRUNCATES = st.lists(
    st.builds(Event, st.just(0), st.integers(1, 15), is_truncate=st.just(True)), max_size=1
)
DEATHS = st.integers(0, 24)


class Life(RuleBasedStateMachine):
    """A table, from nothing on."""

    UUID = f"select uuid from system.tables where database = '{SCHEMA}' and name = 'target'"
    project: CollapsingProject

    def __init__(self) -> None:
        super().__init__()
        self.truth = Truth()
        self.options: dict[str, Any] = {}
        self.sent: list[list[Event]] = []
        self.dead: tuple[str, list[Event]] | None = None  # the uuid of its table, and its events
        self.has_died = False
        self.has_whole_feed = True
        self.base = 0
        self.project.client.command(f"drop database if exists {SCHEMA} sync")
        self.project.client.command(f"create database {SCHEMA}")

    # What befalls the table

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
        """Changes that came before, also those of a run that died."""
        self._run(data.draw(st.sampled_from(self.sent)))

    @rule(events=EVENTS, death=DEATHS)
    def die(self, events: list[Event], death: int) -> None:
        """The run dies before a statement, if it has as many."""
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

    @precondition(lambda self: len(self.truth.since) < len(COLUMNS) and self.dead is None)
    @rule(events=EVENTS)
    def add_column(self, events: list[Event]) -> None:
        """Rows of before have no value; a version that has come before must not get one."""
        name = COLUMNS[len(self.truth.since)]
        self.base += 30
        self.truth.since[name] = self.base
        self.truth.live = {key: (*row[:-1], None, row[-1]) for key, row in self.truth.live.items()}
        self._run(self._later(events))

    @precondition(lambda self: self.dead is None and self.options.get("remember") == "2 days")
    @rule()
    def expire(self) -> None:
        self._run([])  # has the option reach the table
        if self.project.query("exists table target__tombstones") == [(1,)]:
            self.project.command(
                "alter table target__tombstones update _remembered_at = _remembered_at - interval 3 day "
                "where true settings mutations_sync = 2"
            )
            self.project.command("optimize table target__tombstones final")
        self.truth.deleted.clear()

    @precondition(lambda self: self.dead is None and self.truth.live)
    @rule(sign=st.sampled_from([1, -1]))
    def repair(self, sign: int) -> None:
        """Somebody doubles a row, or writes a cancel row of a key that is not there."""
        key = min(self.truth.live)
        changed = "" if sign == 1 else "99 as id, -1 as _sign"
        replaced = f" replace ({changed})" if changed else ""
        self.project.command(
            f"insert into target select *{replaced} from target final where id = {key} and _sign = 1"
        )
        self.project.operation("repair_collapse", model="target", dry_run=False)
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
        return [
            Event(event.key, event.version + self.base, event.is_deleted, event.is_truncate)
            for event in events
        ]

    def _configure(self) -> None:
        options = dict(self.options)
        if "remember" in options:
            options["remember_deletes"] = options.pop("remember")
        self.project.add_model("target", {**CONFIG, **options}, "select * from changes")

    def _land(self, events: list[Event]) -> None:
        later = "".join(f"{name} Nullable(Int64), " for name in self.truth.since)
        self.project.replace_rows(
            "changes",
            f"id Int64, region String, x Nullable(Int64), {later}_version UInt64, _is_deleted Bool, _is_truncate Bool",
            [(*self.truth.payload(event), event.is_deleted, event.is_truncate) for event in events],
        )

    def _run(self, events: list[Event]) -> None:
        """A run that succeeds, completes what one before it has begun, and leaves all as it should be."""
        self._land(events)
        outcomes = self.project.run()
        assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
        self._settle()
        self.truth.apply(events)
        self.sent.append(events)
        self._check()

    def _die(self, events: list[Event], death: int | None, *arguments: str) -> None:
        """A run that dies, unless it ends before; the next one finds what it has left."""
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
            self.truth.apply(events)
            self._run([])
            return
        assert death is not None, outcome.message
        assert "target died here" in outcome.message, outcome.message
        self.has_died = True
        if arguments:
            if self._uuid() != uuid:
                self._begin_anew()
                self.truth.apply(events)
        else:
            self.dead = (self._invocation(), events)

    def _begin_anew(self) -> None:
        self.truth = Truth(since=self.truth.since)
        self.has_whole_feed = True

    def _settle(self) -> None:
        """What a run that died had begun is in the table if the ledger says so; once it is `started`, it must be."""
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
            self.truth.apply(events)

    def _uuid(self) -> Any:
        return self.project.query(self.UUID)

    def _invocation(self) -> str:
        return str(self.project.events[-1].info.invocation_id)

    # The invariants

    def _check(self) -> None:
        names = ", ".join(("id", "region", "x", *self.truth.since, "_version"))
        rows = sorted(self.truth.live.values(), key=repr)
        query = self.project.query
        live = query(f"select {names} from target final where _sign = 1")
        assert sorted(live, key=repr) == rows
        nets = (
            "select {names}, sum(_sign) as net from {table}{where} group by {names} having net <> 0"
        )
        found = query(nets.format(names=names, table="target", where=""))
        assert sorted(found, key=repr) == [(*row, 1) for row in rows]
        view = query(
            "select region, sum(total), sum(n) as c from sums group by region having c <> 0 order by region"
        )
        assert view == self.truth.sums()
        if self.has_whole_feed and query("exists table target__changes") == [(1,)]:
            where = (
                f" where _apply in (select apply from {LEDGER} where status in ('applied', 'repaired') "
                f"and target_uuid = ({self.UUID}))"
            )
            found = query(nets.format(names=names, table="target__changes", where=where))
            assert sorted(found, key=repr) == [(*row, 1) for row in rows]
        # What a run that died had staged stays until a change set needs the same tables.
        left = query(
            f"select name, total_rows from system.tables where database = '{SCHEMA}' and position(name, '__dbt_') > 0 "
            f"and (total_rows > 0 and not {self.has_died} or endsWith(name, '__dbt_lock'))"
        )
        assert left == []

    def teardown(self) -> None:
        self._run([])
        rows = [(*row[:3], row[-1]) for row in self.truth.live.values()]
        self.project.replace_rows(
            "truth", "id Int64, region String, x Nullable(Int64), _version UInt64", rows
        )
        self.project.operation("reconcile", model="target", truth="truth")


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
            drawn,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            report_multiple_bugs=False,
        ),
    )
