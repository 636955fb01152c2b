"""dbt, and with it the embedded engine, is killed by SIGKILL during applies and during the views that follow, one of
them over two tables. The next run completes them.

Every run changes all keys: it moves them between partitions, deletes a fifth, and brings back those that the previous
run deleted. So the contents of the table, its projection and its tombstones after each version can be computed.

A table that is published in one step shows all of an apply or nothing, with one exception: if the engine is killed
while it renames the folders of the staged parts, which takes some milliseconds, those already renamed are in the table.
The next run adds the others.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import shop
from tests.support.commands import variables
from tests.support.forked_dbt import Fork, ForkServer

KEYS = 4_000
# The parts of an apply arrive one after another: many parts take long enough to be killed in between.
PARTS = 16
REGIONS = 7
BLOCK_ROWS = 1_000  # per block of the journal, so that an apply has several blocks
ROWS = """
  select
    number as id,
    (number + {version}) % {parts} as part,
    concat('region ', toString(number % {regions})) as region,
    toInt64(number * 7 + {version}) as amount,
    toUInt64({version}) as _version
"""
PROJECTION = "select region, sum(_sign), sum(amount * _sign), sum(part * _sign) group by region"
CONFIG: dict[str, Any] = {
    "materialized": "versioned_collapsing",
    "database": "clickhouse",
    "unique_key": "id",
    "partition_by": "part",
    "projections": [{"name": "by_region", "query": PROJECTION}],
    "indexes": [{"name": "by_amount", "definition": "amount type minmax granularity 1"}],
}
VARIANTS: dict[str, dict[str, Any]] = {"atomic": {}, "chunks": {"chunks": 3}, "journal": {"publish": "journal"}}
UNFINISHED = ("chunk staged", "started", "block applied")
# A new home from time to time, because everything takes longer for a table with thousands of parts.
KILLS_OF_A_HOME = 30


def _rows(version: int) -> str:
    """All keys of a version, including those that it deletes."""
    return ROWS.format(version=version, parts=PARTS, regions=REGIONS)


# Queries for the table, and for what it should hold.
STATES = {
    "signs": (
        "select part, sum(_sign) as n, sum(amount * _sign), sum(toInt64(_version) * _sign), "
        "sum(reinterpretAsInt64(cityHash64(id, part, region, amount, _version)) * _sign) as all_of_it "
        "from {table} group by part having n <> 0 or all_of_it <> 0 order by part"
    ),
    "final": (
        "select part, count(), uniqExact(id), sum(amount), groupBitXor(cityHash64(id, part, region, amount, _version)) "
        "from {table} {final} where _sign = 1 group by part order by part"
    ),
    "projection": (
        "select region, sum(_sign), sum(amount * _sign), sum(part * _sign) "
        "from {table} group by region order by region settings force_optimize_projection = {force}"
    ),
}


# The view has the same sums as the projection.
VIEW = (
    "select region, sum(_sign) as n, sum(amount * _sign) as total, sum(part * _sign) as parts "
    "from {{{{ ref('{model}') }}}} group by region"
)
# The table joined with that of the next variant, which has also changed since the view ran.
PARTNERS = dict(zip(VARIANTS, [*list(VARIANTS)[1:], *VARIANTS], strict=False))
JOINED_VIEW = (
    "select a.region as region, sum(a._sign * b._sign) as n, sum(a.amount * b.part * a._sign * b._sign) as total "
    "from {table} as a inner join {partner} as b on b.id = a.id group by region"
)
VIEW_CONFIG = {"materialized": "versioned_collapsing_view", "database": "clickhouse", "order_by": "region"}


def _queries_of_state(model: str) -> dict[str, str]:
    view = "select region, sum(n), sum(total){} from kill.{}_{} group by region order by region"
    views = {"view": view.format(", sum(parts)", model, "sums"), "joined view": view.format("", model, "joined")}
    return views | {name: query.format(table=f"kill.{model}", final="final", force=1) for name, query in STATES.items()}


def _live(version: int) -> str:
    """The live rows of a version."""
    return (
        f"(select *, toInt8(1) as _sign from ({_rows(version)} from numbers({KEYS})) where (id + {version}) % 5 <> 0)"
    )


def _queries_of_version(version: int) -> dict[str, str]:
    return {
        f"{name} {version}": query.format(table=_live(version), final="", force=0) for name, query in STATES.items()
    }


def _queries_of_join(*versions: tuple[int, int]) -> dict[str, str]:
    """What the joined view must hold, by the versions of its two tables."""
    return {
        f"join {pair}": JOINED_VIEW.format(table=_live(pair[0]), partner=_live(pair[1])) + " order by region"
        for pair in versions
    }


def _queries_of_records(model: str) -> dict[str, str]:
    """What the ledger says about a model, and which of its staged tables have rows."""
    return {
        "ledger": (
            "select uniqExact(run_id), argMax(status, at), argMax(chunk, at) "
            f"from kill.versioned_collapsing_ledger where model = '{model}'"
        ),
        "staged": (
            "select name, total_rows from system.tables "
            f"where database = 'kill' and startsWith(name, '{model}__dbt_') order by name"
        ),
    }


def _queries_of_leftovers(model: str) -> dict[str, str]:
    """What must be empty; and the tombstones, each with the highest version at which its key was deleted."""
    return {
        "unpaired": (
            f"select * except (_sign), sum(_sign) as net from kill.{model} group by all having net not in (0, 1) limit 3"
        ),
        "mutations": "select table, command from system.mutations where database = 'kill' and not is_done",
        "detached": "select table, name from system.detached_parts where database = 'kill'",
        "tombstones": f"select id, max(_version) from kill.{model}__tombstones group by id order by id",
    }


def _tombstones(version: int) -> list[list[int]]:
    deleted = ((key, version - (key + version) % 5) for key in range(KEYS))
    return [[key, at] for key, at in deleted if at >= 1]


class Disk:
    """The progress of a run, judging by the parts of tables that are visible on disk."""

    def __init__(self, home: Path, model: str) -> None:
        self._home = home
        self._model = model
        self._before = {role: self._parts(role) for role in ("", "__dbt_signed", "__tombstones")}
        self._blocks = self._ledger_block()
        self._lock = self._lock_time()
        self._views = {name: self._uuid(f"{model}_{name}") for name in ("sums", "joined")}

    def opened(self) -> bool:
        """Whether the run has opened the engine, because it has taken the lock of the stores."""
        return self._lock_time() > self._lock

    def staged(self) -> bool:
        """Whether rows to publish are staged."""
        return bool(self._new("__dbt_signed"))

    def published(self, share: float) -> bool:
        """Whether more than a share of an apply's parts are in the table."""
        return self.parts()[0] > PARTS * share

    def parts(self) -> tuple[int, int]:
        """How many parts the run has added to the table, and how many it has staged for it."""
        # Parts with other names are merged ones.
        added = [part for part in self._new("") if part.split("_")[1] == part.split("_")[2]]
        return len(added), len(self._new("__dbt_signed"))

    def buried(self) -> bool:
        """Whether deletes are remembered."""
        return bool(self._new("__tombstones"))

    def kept(self, view: str = "sums") -> bool:
        """Whether the view has the changes, because another table has its name."""
        return self._uuid(f"{self._model}_{view}") != self._views[view]

    def joined(self) -> bool:
        """Whether the joined view has the changes."""
        return self.kept("joined")

    def recorded(self, rows: int) -> bool:
        """Whether the ledger has this many more rows."""
        return self._ledger_block() >= self._blocks + rows

    def _lock_time(self) -> int:
        """When the file was written in which a run notes that it holds the lock, in nanoseconds."""
        try:
            return (self._home / "lock").stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def _new(self, role: str) -> set[str]:
        return self._parts(role) - self._before[role]

    def _ledger_block(self) -> int:
        return max((int(part.split("_")[2]) for part in self._visible("versioned_collapsing_ledger")), default=0)

    def _parts(self, role: str) -> set[str]:
        return self._visible(f"{self._model}{role}")

    def _visible(self, table: str) -> set[str]:
        """The visible parts. A visible part is named after its partition, its blocks and its level; any other has a
        prefix. A recreated staged table has parts of the same names, so the table's UUID distinguishes them."""
        uuid = self._uuid(table)
        try:
            folder = self._home / "clickhouse" / "store" / uuid[:3] / uuid
            return {f"{uuid} {path.name}" for path in folder.iterdir() if path.name.count("_") == 3} if uuid else set()
        except FileNotFoundError:
            return set()

    def _uuid(self, table: str) -> str:
        """The UUID of a table; empty if it does not exist."""
        file = self._home / "clickhouse" / "metadata" / "kill" / f"{table}.sql"
        try:
            return file.read_text().partition("UUID '")[2].partition("'")[0]
        except FileNotFoundError:
            return ""


Moment = Callable[[Disk], bool]
MOMENTS: dict[str, Moment] = {
    "staged": Disk.staged,
    "one row in the ledger": lambda disk: disk.recorded(1),
    "two rows in the ledger": lambda disk: disk.recorded(2),
    "three rows in the ledger": lambda disk: disk.recorded(3),
    "first part published": lambda disk: disk.published(0),
    "a third published": lambda disk: disk.published(0.3),
    "two thirds published": lambda disk: disk.published(0.7),
    "deletes remembered": Disk.buried,
    "view kept": Disk.kept,
    "joined view kept": Disk.joined,
}
# Moments for which an apply has too few ledger rows, or which show no more than the others.
SKIPPED = {
    "atomic": ("three rows in the ledger",),
    "chunks": ("view kept", "joined view kept"),
    "journal": ("staged", "one row in the ledger", "two rows in the ledger", "view kept"),
}
# `make test-all` kills at every second of these, so at each moment; `--kills` at all of them and at random ones.
CHOSEN = [(variant, moment) for moment in MOMENTS for variant in VARIANTS if moment not in SKIPPED.get(variant, ())]


@dataclass
class Kill:
    """Where a run was killed, by its last row in the ledger, and the state of the table then."""

    variant: str
    moment: str
    phase: str = ""
    shows: str = ""
    parts: tuple[int, int] = (0, 0)  # parts in the table, and staged parts
    was_killed: bool = False  # if not, the run had ended
    was_completed: bool = False
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Victims:
    """A project with a model for each variant, and the version of each table."""

    def __init__(self, folder: Path, server: ForkServer) -> None:
        self._home = folder / "home"
        self._server = server
        self._random = random.Random(1)
        self._versions: dict[str, int] = {}
        self._spans: dict[str, float] = {}
        self._runs: dict[str, int] = {}
        self._joined: dict[str, tuple[int, int]] = {}  # the versions in each joined view

    def begin(self) -> None:
        """New stores, with the first two versions of each table. The second run is timed."""
        shutil.rmtree(self._home, ignore_errors=True)
        end = self._server.start("run", "--select", *VARIANTS, "tag:sums", *variables(version=1)).wait()
        assert end["success"], end
        self._versions = dict.fromkeys(VARIANTS, 1)
        for variant in VARIANTS:
            disk = Disk(self._home, variant)
            run = self._start(variant, version=2)
            self._spans[variant] = self._span(run, disk)
            end = run.wait()
            assert end["success"], end
            self._versions[variant] = self._runs[variant] = 2
            self._joined[variant] = (2, self._versions[PARTNERS[variant]])

    def _span(self, run: Fork, disk: Disk) -> float:
        """Seconds from when a run opens the engine until it has updated the views."""
        while not disk.opened() and not run.has_ended():
            time.sleep(0.002)
        began = time.monotonic()
        while not (disk.kept() and disk.joined()) and not run.has_ended():
            time.sleep(0.002)
        return time.monotonic() - began + 0.1

    def kill(self, variant: str, moment: str) -> Kill:
        """Kill a run, check the table, and let the next run, which has an empty change set, complete it."""
        began = time.monotonic()
        before = self._versions[variant]
        kill = Kill(variant, moment)
        kill.parts = self._kill_at(kill, before + 1)
        found = self._ask(
            _queries_of_records(variant)
            | _queries_of_state(variant)
            | _queries_of_version(before)
            | _queries_of_version(before + 1)
            | _queries_of_join(*self._possible_joins(variant, before))
        )
        self._judge_killed(kill, found, before)
        completed = self._run(
            variant,
            version=before + 1,
            share=0,
            queries=_queries_of_records(variant) | _queries_of_state(variant) | _queries_of_leftovers(variant),
        )
        self._judge_completed(kill, found, completed, before)
        kill.seconds = time.monotonic() - began
        return kill

    def _possible_joins(self, variant: str, before: int) -> list[tuple[int, int]]:
        """The versions that the joined view can show: the old ones, and those after a run, without and with the
        apply."""
        partner = self._versions[PARTNERS[variant]]
        return list(dict.fromkeys([self._joined[variant], (before, partner), (before + 1, partner)]))

    def _kill_at(self, kill: Kill, version: int) -> tuple[int, int]:
        """How many of the staged parts are in the table after the kill, and how many are staged."""
        disk = Disk(self._home, kill.variant)
        run = self._start(kill.variant, version=version)
        if kill.moment in MOMENTS:
            # Almost no pause: parts move to their places within a millisecond or two.
            pause = 0 if "published" in kill.moment else 0.002
            while not MOMENTS[kill.moment](disk) and not run.has_ended():
                time.sleep(pause)
        else:
            while not disk.opened() and not run.has_ended():
                time.sleep(0.002)
            time.sleep(self._random.uniform(0, self._spans[kill.variant]))
        run.kill()
        end = run.wait()
        kill.was_killed = end["signal"] == signal.SIGKILL
        if not kill.was_killed and not end["success"]:
            kill.wrong.append(f"the run to be killed failed: {end['message']}")
        return disk.parts()

    def _judge_killed(self, kill: Kill, found: dict[str, Any], before: int) -> None:
        runs, status, chunk = found["ledger"][0]
        has_begun = runs > self._runs[kill.variant]
        is_staged = any(rows for _, rows in found["staged"])
        kill.phase = status if has_begun else "staging" if is_staged else "before staging"
        shown = {
            name: [version for version in (before, before + 1) if found[name] == found[f"{name} {version}"]]
            for name in STATES
        }
        if found["view"] not in (found[f"projection {before}"], found[f"projection {before + 1}"]):
            kill.wrong.append(f"after the kill, {kill.phase}: the view is {found['view']}")
        joins = [found[f"join {pair}"] for pair in self._possible_joins(kill.variant, before)]
        if found["joined view"] not in joins:
            kill.wrong.append(f"after the kill, {kill.phase}: the joined view is {found['joined view']}")
        kill.shows = "before" if all(before in versions for versions in shown.values()) else "unbalanced"
        if all(before + 1 in versions for versions in shown.values()):
            kill.shows = "after"
        if kill.variant == "journal":
            return
        possible = {"started": ["before", "after"], "applied": ["after"]}.get(kill.phase, ["before"])
        # The engine itself was killed while it renamed the folders of parts, one after another.
        if kill.phase == "started" and 0 < kill.parts[0] < kill.parts[1]:
            possible = ["unbalanced"]
        if kill.shows not in possible:
            kill.wrong.append(f"after the kill, {kill.phase} {chunk}: the table is {kill.shows}: {shown}")

    def _judge_completed(self, kill: Kill, found: dict[str, Any], completed: dict[str, Any], before: int) -> None:
        runs, status, _ = completed["ledger"][0]
        kill.was_completed = kill.phase in UNFINISHED
        version = before + (runs > self._runs[kill.variant])
        self._versions[kill.variant], self._runs[kill.variant] = version, runs
        if runs != found["ledger"][0][0] or status != "applied":
            kill.wrong.append(f"after the next run the ledger says {completed['ledger']}, before {found['ledger']}")
        for name in STATES:
            if completed[name] != found[f"{name} {version}"]:
                kill.wrong.append(
                    f"after the next run, by {name}: {_first_difference(completed[name], found[f'{name} {version}'])}"
                )
        if completed["view"] != found[f"projection {version}"]:
            kill.wrong.append(
                f"after the next run, the view: {_first_difference(completed['view'], found[f'projection {version}'])}"
            )
        self._joined[kill.variant] = joined = (version, self._versions[PARTNERS[kill.variant]])
        if completed["joined view"] != found[f"join {joined}"]:
            kill.wrong.append(
                "after the next run, the joined view: "
                + _first_difference(completed["joined view"], found[f"join {joined}"])
            )
        if completed["tombstones"] != _tombstones(version):
            kill.wrong.append(f"tombstones: {_first_difference(completed['tombstones'], _tombstones(version))}")
        for name in ("unpaired", "mutations", "detached"):
            if completed[name]:
                kill.wrong.append(f"{name}: {completed[name]}")
        if kill.was_completed and any(rows for _, rows in completed["staged"]):
            kill.wrong.append(f"still staged: {completed['staged']}")

    def _start(self, variant: str, queries: dict[str, str] | None = None, **values: int) -> Fork:
        return self._server.start(
            *("run", "--select", variant, f"{variant}_sums", f"{variant}_joined"), *variables(**values), queries=queries
        )

    def _run(self, variant: str, queries: dict[str, str] | None = None, **values: int) -> dict[str, Any]:
        end = self._start(variant, queries, **values).wait()
        assert end["success"], end
        answers: dict[str, Any] = end["answers"]
        return answers

    def _ask(self, queries: dict[str, str]) -> dict[str, Any]:
        end = self._server.start(queries=queries).wait()
        answers: dict[str, Any] = end["answers"]
        assert answers, end
        return answers


def _first_difference(found: list[Any], expected: list[Any]) -> str:
    return (
        f"{[row for row in found if row not in expected][:2]} for {[row for row in expected if row not in found][:2]}"
    )


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victims]:
    folder = tmp_path_factory.mktemp("kill") / "project"
    _make_project(folder)
    with ForkServer(folder, version=0) as server:
        yield Victims(folder, server)


def _make_project(folder: Path) -> None:
    (folder / "models").mkdir(parents=True)
    select = ROWS.format(version="{{ var('version') }}", parts=PARTS, regions=REGIONS)
    is_deleted = "(id + {{ var('version') }}) % 5 = 0 as _is_deleted"
    source = f"from numbers({KEYS} * {{{{ var('share', 1) }}}})"
    for variant, config in VARIANTS.items():
        (folder / "models" / f"{variant}.sql").write_text(
            f"{{{{ config(**{CONFIG | config!r}) }}}}\n{select}, {is_deleted}\n{source}"
        )
        (folder / "models" / f"{variant}_sums.sql").write_text(
            f"{{{{ config(tags='sums', **{VIEW_CONFIG!r}) }}}}\n{VIEW.format(model=variant)}"
        )
        tables = {"table": variant, "partner": PARTNERS[variant]}
        refs = {name: f"{{{{ ref('{table}') }}}}" for name, table in tables.items()}
        (folder / "models" / f"{variant}_joined.sql").write_text(
            f"{{{{ config(**{VIEW_CONFIG!r}) }}}}\n{JOINED_VIEW.format(**refs)}"
        )
    output = {"type": "spark_clickhouse", "schema": "kill", "home": str(folder / "home")}
    profiles = {"kill": {"target": "embedded", "outputs": {"embedded": {**output, "threads": 1}}}}
    (folder / "profiles.yml").write_text(json.dumps(profiles))
    project = {
        "name": "versioned_collapsing",
        "profile": "kill",
        "version": "1.0",
        "macro-paths": [str(shop.REPOSITORY / "macros")],
        "vars": {"versioned_collapsing_block_rows": BLOCK_ROWS},
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(json.dumps(project))


def test_killed_applies_are_completed_by_the_next_runs(request: pytest.FixtureRequest, victims: Victims) -> None:
    count = request.config.getoption("--kills")
    moments = CHOSEN if count else CHOSEN[::2]
    count = count or len(moments)
    random_moments = [(variant, "random") for variant in VARIANTS]
    kills = []
    for number in range(count):
        if number % KILLS_OF_A_HOME == 0:
            victims.begin()
        # After the chosen moments, only every fourth kill is at a chosen one; the others are random.
        is_chosen = number < len(moments) or number % 4 == 0
        chosen = moments[(number if number < len(moments) else number // 4) % len(moments)]
        kill = victims.kill(*(chosen if is_chosen else random_moments[number % 3]))
        kills.append(kill)
        print(kill, flush=True)  # noqa: T201
    for (variant, phase, shows), times in sorted(
        Counter((kill.variant, kill.phase, kill.shows) for kill in kills).items()
    ):
        print(f"{variant}, {phase}, table {shows}: {times}")  # noqa: T201
    seconds = sorted(kill.seconds for kill in kills)
    killed = sum(kill.was_killed for kill in kills)
    unbalanced = sum(kill.shows == "unbalanced" for kill in kills)
    completions = sum(kill.was_completed for kill in kills)
    print(f"{killed} killed, {unbalanced} unbalanced, {completions} completed")  # noqa: T201
    print(f"{seconds[len(seconds) // 2]:.1f} s per kill")  # noqa: T201
    assert [kill for kill in kills if kill.wrong] == []
    phases = Counter(kill.phase for kill in kills if kill.was_killed)
    assert phases["staging"] + phases["chunk staged"], phases
    assert phases["started"] + phases["block applied"], phases
    assert completions
