"""`changes_since`, `as_of` and `versions`: the history in a change feed is what really happened."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import clickhouse_connect
import pytest
from clickhouse_connect.driver.exceptions import DatabaseError

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.oracle import Event, Oracle
from tests.support.statements import Send, dying, intercepted
from tests.support.table import Table

STRUCTURE = (
    "id Nullable(Int64), part UInt8, n Nullable(Int64), f Float64, a Array(Nullable(Int64)), m Map(String, Int64), "
    "t Tuple(x Int64, y Nullable(String)), j String, _version UInt64, _is_deleted Bool, _is_truncate Bool"
)
COLUMNS = "id, part, n, f, a, m, t, j, _version"
TEXT = f"formatRowNoNewline('TSV', {COLUMNS})"
CONFIG: dict[str, Any] = {"unique_key": "id", "partition_by": "part", "change_feed": True}
SELECT = "select * replace (cast(j as JSON) as j) from {}"
NOTHING: Row = (0, None, 0.0, [], {}, (0, None), "{}")
VIEWS = {
    "now": "live_rows(ref('{name}'))",
    "at": "as_of(ref('{name}'), at='(select at from moment)')",
    "version": "as_of(ref('{name}'), version='(select version from moment)')",
    "versions": "versions(ref('{name}'))",
    "changes": "changes_since(ref('{name}'), apply='(select apply from moment)')",
}
LACKS = "does not have all applies that this query needs"
# The statements that publish an apply: to the feed, to the ledger and to the table.
_WRITES = re.compile(r"(insert into \S*(__changes|_ledger|target)` |attach partition all)")
REBUILT = "did not exist at this time, or has been rebuilt since then"


@dataclass(frozen=True)
class Life:
    """A state of a key, and when it was valid."""

    key: int
    payload: Row
    begin: int
    end: int | None = None

    @property
    def row(self) -> Row:
        return (self.key, *self.payload, self.begin)


@dataclass
class Source:
    """What happened, and what the table makes of it."""

    random: random.Random
    lives: list[Life] = field(default_factory=list)
    oracle: Oracle = field(default_factory=Oracle)
    payloads: dict[int, Row] = field(default_factory=dict)  # by version
    version: int = 0
    late: list[Row] = field(default_factory=list)

    def live(self) -> dict[int, Life]:
        return {life.key: life for life in self.lives if life.end is None}

    def at(self, version: int) -> list[Life]:
        return [each for each in self.lives if each.begin <= version and (each.end is None or each.end > version)]

    def _payload(self) -> Row:
        choose = self.random.choice
        return (
            choose((0, 1, 2)),
            choose((None, 0, 5)),
            choose((0.0, -0.0, float("nan"), float("inf"), 1.5)),
            choose(([], [None], [1, None, 2])),
            choose(({}, {"k": 1}, {"k": 1, "l": 2})),
            choose(((0, None), (1, "é\t"))),
            choose(("{}", '{"b": {"c": [1, null]}}', '{"a": "x", "b": 1.5}')),
        )

    def changes(self, keys: int, *, truncates: bool = False) -> list[Row]:
        """Changes of new and old keys, some keys twice; some changes arrive late."""
        rows: list[Row] = []
        for _ in range(keys):
            self.version += 1
            is_deleted = self.random.random() < 0.25
            row = (self.random.randrange(keys), *self._payload(), self.version, is_deleted, False)
            (self.late if self.random.random() < 0.15 else rows).append(row)
        while self.late and self.random.random() < 0.4:
            rows.append(self.late.pop(0))
        if truncates:
            rows.append((None, *NOTHING, self.version - keys // 2, False, True))
        self.random.shuffle(rows)
        return rows

    def apply(self, rows: Iterable[Row]) -> None:
        """The changes of an apply end a state, begin one, or both."""
        before = dict(self.oracle.live)
        events = []
        for key, *payload, version, is_deleted, is_truncate in rows:
            self.payloads[version] = tuple(payload)
            events.append(Event(key, version, is_deleted=is_deleted, is_truncate=is_truncate))
        self.oracle.apply(events)
        for key in before.keys() | self.oracle.live.keys():
            was, now = before.get(key), self.oracle.live.get(key)
            if was == now:
                continue
            if was:
                self._end(self.live()[key], now.version if now else self.oracle.tombstones[key])
            if now:
                self.lives.append(Life(key, self.payloads[now.version], now.version))

    def _end(self, life: Life, version: int) -> None:
        self.lives[self.lives.index(life)] = replace(life, end=version)


@dataclass
class History:
    """A table that applies changes, and what it held after each apply."""

    project: CollapsingProject
    source: Source
    name: str = "target"
    seen: list[tuple[str, list[Row]]] = field(default_factory=list)

    def configure(self, **config: Any) -> None:
        self.project.add_model(self.name, {**CONFIG, **config}, SELECT.format("changes"))

    def build(self, **config: Any) -> None:
        self.configure(**config)
        add_views(self.project, self.name)
        self.project.replace_rows("changes", STRUCTURE, [])
        set_moment(self.project)

    def run(
        self,
        *arguments: str,
        rows: list[Row] | None = None,
        truncates: bool = False,
        also: Sequence[History] = (),
    ) -> None:
        """Apply changes, also to other tables of the same source."""
        rows = self.source.changes(12, truncates=truncates) if rows is None else rows
        self.project.replace_rows("changes", STRUCTURE, rows)
        select = ("--select", self.name, *(each.name for each in also)) if self.seen else ()
        outcomes = self.project.run(*select, *arguments)
        assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
        self.source.apply(rows)
        ((now,),) = self.project.query("select toString(now64(6, 'UTC'))")
        for each in (self, *also):
            each.seen.append((str(now), each.rows("now")))

    def rows(self, view: str) -> list[Row]:
        return self.project.query(f"select {TEXT} from {self.name}_{view} order by 1")

    def at(self, at: str) -> list[Row]:
        set_moment(self.project, at=at)
        return self.rows("at")

    def check_moments(self, first: int) -> None:
        """From a given apply on, the table's past states are what they were; earlier ones cannot be read."""
        for position, (at, rows) in enumerate(self.seen):
            if position >= first:
                assert self.at(at) == rows, position
            else:
                with pytest.raises(DatabaseError, match=f"{LACKS}|{REBUILT}"):
                    self.at(at)

    def check_versions(self) -> None:
        lives = self.source.lives
        for version in {0, *range(0, self.source.version + 1, 7), self.source.version}:
            set_moment(self.project, version=version)
            assert self.rows("version") == texts(self.project, self.source.at(version)), version
        found = self.project.query(
            f"select id, toUInt64(valid_from), valid_to, is_current, known_to is null, {TEXT} "
            f"from {self.name}_versions order by id, valid_from"
        )
        lives = sorted(lives, key=lambda life: (life.key, life.begin))
        assert [row[:5] for row in found] == [
            (life.key, life.begin, life.end, life.end is None, life.end is None) for life in lives
        ]
        assert sorted(row[5:] for row in found) == texts(self.project, lives)

    def check_changes(self) -> None:
        """From each apply that the feed has until now."""
        applies = [0, *(row[0] for row in self.project.query(
            f"select distinct _apply from {self.name}__feed where _apply > 0 order by 1"
        ))]  # fmt: skip
        net = f"select {TEXT}, sum(_sign) as c from {self.name}_changes group by 1 having c <> 0 order by 1"
        for apply in applies[1:]:
            set_moment(self.project, apply=apply)
            ((began,),) = self.project.query(
                f"select toString(max(_applied_at)) from {self.name}__feed where _apply = {apply}"
            )
            was, now = set(self.at(began)), set(self.rows("now"))
            set_moment(self.project, apply=apply)
            expected = [(*row, 1) for row in now - was] + [(*row, -1) for row in was - now]
            assert self.project.query(net) == sorted(expected), apply
        set_moment(self.project, apply=0)
        assert self.project.query(net) == [(*row, 1) for row in self.rows("now")]

    def check_all(self, first: int = 0) -> None:
        self.check_moments(first)
        self.check_versions()
        self.check_changes()

    def assert_lacking(self, *views: str) -> None:
        for view in views:
            with pytest.raises(DatabaseError, match=LACKS):
                self.project.query(f"select count() from (select * from {self.name}_{view})")


def add_views(project: CollapsingProject, name: str) -> None:
    for view, call in VIEWS.items():
        sql = f"select * from {{{{ versioned_collapsing.{call.format(name=name)} }}}}"
        project.add_model(f"{name}_{view}", {"materialized": "view"}, sql)


def set_moment(project: CollapsingProject, at: str = "2000-01-01 00:00:00", version: int = 0, apply: int = 0) -> None:
    structure = "at DateTime64(6, 'UTC'), version UInt64, apply UInt64"
    project.command(f"create or replace table moment ({structure}) engine = Memory")
    project.command(f"insert into moment values ('{at}', {version}, {apply})")


def texts(project: CollapsingProject, lives: Iterable[Life]) -> list[Row]:
    structure = STRUCTURE.split(", _is_deleted", maxsplit=1)[0].replace("Nullable(Int64)", "Int64", 1)
    project.replace_rows("expected", structure, [life.row for life in lives])
    return project.query(f"select {TEXT} from ({SELECT.format('expected')}) order by 1")


def make_history(make_project: MakeProject, schema: str, seed: int, **config: Any) -> History:
    project = make_project(schema)
    project.set_variables(versioned_collapsing_block_rows=5)
    history = History(project, Source(random.Random(seed)))
    history.build(**config)
    return history


def test_a_random_history(make_project: MakeProject, is_exhaustive: bool) -> None:
    """Of two tables that get the same changes, one of them in chunks and with a journal."""
    whole = make_history(make_project, "history_random", 1)
    chunked = History(whole.project, whole.source, "chunked")
    chunked.build(chunks=3, publish="journal", order_by=["part", "id"])
    for turn in range(40 if is_exhaustive else 6):
        whole.run(truncates=turn % 20 == 4, also=[chunked])
    assert len(whole.source.lives) > 30
    assert whole.source.oracle.truncated_at
    for history in (whole, chunked):
        history.check_all()


def test_a_history_with_gaps(make_project: MakeProject) -> None:
    history = make_history(make_project, "history_gaps", 3)
    query, command = history.project.query, history.project.command
    for _ in range(2):
        history.run()
    # Switched off for one apply. What comes after it can be read, but not a whole history.
    history.configure(change_feed=False)
    history.run()
    history.configure()
    history.run()
    history.check_moments(first=2)
    history.assert_lacking("version", "versions", "changes")
    # A new feed begins with the current rows, those of the last moment.
    command("drop table target__feed")
    begin = len(history.seen) - 1
    with pytest.raises(DatabaseError, match="target__feed"):
        query("select * from target_versions")
    alive = history.source.live().values()
    history.source.lives = list(alive)
    history.run()
    history.check_moments(first=begin)
    history.check_versions()
    history.check_changes()
    # Some of the rows with which it begins are lost: the comment shows that they are missing.
    parts = "create table kept as target__feed; insert into kept select * from target__feed"
    for statement in parts.split("; "):
        command(statement)
    settle = "settings mutations_sync = 2"
    first = f"_apply = 0 and id = (select min(id) from kept where _apply = 0) {settle}"
    command(f"alter table target__feed delete where {first}")
    history.assert_lacking("version", "versions", "changes")
    history.check_moments(first=begin)
    command(f"alter table target__feed delete where _apply = 0 {settle}")
    history.assert_lacking("version", "versions", "changes")
    # The same for an apply that has lost one row.
    ((last,),) = query("select max(_apply) from kept")
    command(
        f"alter table target__feed delete where _apply = {last} and _sign = 1 and id = "
        f"(select min(id) from kept where _apply = {last} and _sign = 1) {settle}"
    )
    set_moment(history.project, apply=last - 1)
    history.assert_lacking("version", "versions", "changes")
    history.check_moments(first=begin + 1)
    # Rebuilt: another table, which the feed has completely.
    history.source = Source(random.Random(4), version=history.source.version)
    begin = len(history.seen)
    history.run("--full-refresh")
    history.run()
    history.check_all(first=begin)
    set_moment(history.project, apply=last)
    with pytest.raises(DatabaseError, match="has had no apply of this number"):
        query("select * from target_changes")
    # No feed at all, and views that are made without one.
    command("drop table target__feed")
    history.configure(change_feed=False)
    history.project.run("--select", "target_changes", "target_at", "target_versions", "target_version")
    set_moment(history.project)
    history.assert_lacking("version", "versions", "changes")
    with pytest.raises(DatabaseError, match="compile it again: run the model of"):
        query("select * from target_versions")
    assert history.at(history.seen[-1][0]) == history.seen[-1][1]
    with pytest.raises(DatabaseError, match=LACKS):
        history.at(history.seen[-2][0])


def test_a_history_of_runs_that_died(make_project: MakeProject, is_exhaustive: bool) -> None:
    """One model dies before each statement of an apply; the last one lives. The next apply completes what had begun."""
    project = make_project("history_deaths")
    last = 30
    deaths = range(0, last, 1 if is_exhaustive else 7)
    names = [f"t{number:02}x" for number in deaths]
    for name in names:
        project.add_model(name, CONFIG, SELECT.format("changes"))
    add_views(project, names[0])
    set_moment(project)
    sources = {True: Source(random.Random(5)), False: Source(random.Random(5))}
    first, second, third = (sources[True].changes(12) for _ in range(3))
    for has_second, source in sources.items():
        for rows in (first, second, third) if has_second else (first, third):
            source.apply(rows)
    project.replace_rows("changes", STRUCTURE, first)
    project.build()
    queries: dict[str, str] = dict(
        project.query("select name, as_select from system.tables where database = currentDatabase()")
    )
    project.replace_rows("changes", STRUCTURE, second)
    ((at, began),) = project.query(
        "select toString(now64(6, 'UTC')), (select max(at) from versioned_collapsing_ledger) "
    )
    moment_rows = {name: texts_of_live(project, name) for name in names}
    with dying({**dict(zip(names, deaths, strict=True)), names[-1]: None}) as begun:
        outcomes = project.run("--select", *names)
    assert outcomes[names[-1]].status == "success"
    assert max(begun.values()) < last, begun
    started = {
        name
        for (name,) in project.query(
            f"select model from versioned_collapsing_ledger where status = 'started' and at > '{began}'"
        )
    }
    assert 1 < len(started) < len(names)
    histories = {name: History(project, sources[name in started], name) for name in names}
    for name, history in histories.items():
        for view in VIEWS:
            query = queries[f"{names[0]}_{view}"].replace(names[0], name)
            project.command(f"create or replace view {name}_{view} as {query}")
        # An apply that has begun and not ended does not change the past, whether or not its rows are there.
        assert history.at(at) == moment_rows[name], name
        current = f"select {TEXT} from {name}_versions where is_current order by 1"
        assert project.query(current) == history.rows("now"), name
    project.replace_rows("changes", STRUCTURE, third)
    project.build("--select", *names)
    for name, history in histories.items():
        assert history.at(at) == moment_rows[name], name
        assert history.rows("now") == texts(project, history.source.live().values()), name
        history.check_versions()
        history.check_changes()


def texts_of_live(project: CollapsingProject, name: str) -> list[Row]:
    return project.query(f"select {TEXT} from {name} final where _sign = 1 order by 1")


def test_rows_of_others_are_no_history(make_project: MakeProject) -> None:
    """What another writer left, and what repairs it, are not states of a key."""
    history = make_history(make_project, "history_others", 6)
    project = history.project

    def row(key: int, version: int, *, is_deleted: bool = False) -> Row:
        return (key, *NOTHING, version, is_deleted, False)

    def look() -> None:
        ((now,),) = project.query("select toString(now64(6, 'UTC'))")
        history.seen.append((str(now), history.rows("now")))

    history.run(rows=[row(key, 10 + key) for key in range(6)])
    history.run(rows=[row(key, 20 + key) for key in (1, 2, 3, 4)])
    live = "from target final where _sign = 1 and id ="
    fed = "from target__feed where _sign = 1 and _version ="
    for foreign in (
        f"{COLUMNS}, 1 {live} 1",  # stored a second time
        f"{COLUMNS}, -1 {fed} 12",  # cancelled a second time
        f"id, part, n, f, a, m, t, j, 15, 1 {live} 3",  # a state of its own
        f"{COLUMNS}, -1 {fed} 14",
        f"{COLUMNS}, 1 {live} 5",
    ):
        project.command(f"insert into target ({COLUMNS}, _sign) select {foreign}")
    look()
    # Late changes, and one in time, repair the keys that they are for; an operation repairs the others.
    history.run(rows=[row(1, 5), row(2, 6), row(3, 33)])
    project.operation("rebalance", model="target", dry_run=False)
    look()
    history.run(rows=[row(1, 41), row(2, 42, is_deleted=True), row(5, 45)])
    # Nobody knows when the rows of others came: the table's past is known from the time when it had them. A row that
    # was stored twice counts once.
    history.seen = [(at, sorted(set(rows))) for at, rows in history.seen[2:]]
    history.check_moments(first=0)
    history.check_versions()


def test_how_the_macros_are_used(make_project: MakeProject) -> None:
    history = make_history(make_project, "history_uses", 7)
    project = history.project
    history.run()
    begin = history.source.version
    history.run()
    # In an analysis, ad hoc, in a join, for a table that no model builds, and in an incremental copy.
    inline = (
        "select count() as n, countIf(o.n is not null or l.id = o.id) as m "
        f"from {{{{ versioned_collapsing.as_of(ref('target'), version={begin}) }}}} as o "
        "left join {{ versioned_collapsing.live_rows(ref('target')) }} as l on l.id = o.id"
    )
    assert project.dbt("show", "--inline", inline)["inline_query"].status == "success"
    analyses = project.folder / "analyses"
    analyses.mkdir()
    (analyses / "before.sql").write_text(inline)
    assert project.dbt("compile", "--select", "before")["before"].status == "success"
    project.command("create table other as target")
    other = "api.Relation.create(schema=target.schema, identifier='other')"
    arguments = "unique_key='id', version_column='_version'"
    for call, said in {
        f"versions({other}, {arguments})": None,
        f"as_of({other}, at='now()', {arguments})": None,
        f"as_of({other}, version=1)": "no model of this project builds .*Name it: unique_key=",
        "as_of(ref('target'))": "takes either `at`, a time in UTC, or `version`. Pass one of them\\.",
        "as_of(ref('target'), at='now()', version=3)": "or `version`. Pass only one of them\\.",
        "versions(ref('target'), sign='_s')": "sign is _s, and .* has no such column. It has id, part, n, f, a, m, t, j, ",
    }.items():
        if said is None:
            sql = f"select count() as c from {{{{ versioned_collapsing.{call} }}}}"
            assert project.dbt("show", "--inline", sql)["inline_query"].status == "success", call
        else:
            project.add_model("wrong", {"materialized": "view"}, f"select * from {{{{ versioned_collapsing.{call} }}}}")
            try:
                message = project.run("--select", "wrong")["wrong"].message
            except AssertionError as error:  # problems that need no table are found while dbt parses
                message = str(error)
            assert re.search(said, message), message


def compiled(table: Table, macro: str, *arguments: str) -> str:
    """What a history macro returns for the table, for `from`."""
    name = f"text_of_{macro}"
    call = ", ".join(["ref('target')", *arguments])
    table.add_model(name, {"materialized": "view"}, f"select * from {{{{ versioned_collapsing.{macro}({call}) }}}}")
    table.build()
    query = f"select as_select from system.tables where database = currentDatabase() and name = '{name}'"
    ((text,),) = table.query(query)
    return f"({text})"


@pytest.mark.parametrize("publish", ["atomic", "journal"])
def test_what_readers_see_while_an_apply_is_published(
    make_project: MakeProject, server: tuple[str, int], publish: str
) -> None:
    """A query begins before each statement of the apply, and takes so long to find its tables that the statement runs in
    between: it shows what was before the apply or what is after it. With a journal this holds for the history only."""
    table = Table(make_project(f"history_read_{publish}"), change_feed=True, publish=publish)
    table.apply([(key, 1, 1) for key in range(200)])
    of_version = compiled(table, "as_of", "version=2")
    queries = {
        "as_of": f"select count(), sum(x), uniqExact(id) from {of_version}",
        "versions": f"select countIf(is_current), sumIf(x, is_current), uniqExact(id) from {compiled(table, 'versions')}",
    }
    if publish == "atomic":
        queries |= {
            "final": "select count(), sum(x), uniqExact(id) from target final where _sign = 1",
            "signs": "select sum(_sign), sum(x * _sign), 0 from target",
        }

    def ask(query: str) -> Row:
        """On a connection of its own."""
        with clickhouse_connect.get_client(host=server[0], port=server[1], database=table.project.schema) as client:
            slow = {"merge_tree_storage_snapshot_sleep_ms": 30}
            return tuple(client.query(query, settings=slow).result_rows[0])

    answers: dict[str, list[Future[Row]]] = {name: [] for name in queries}
    with ThreadPoolExecutor(4) as pool:

        def read_too(send: Send, sql: str) -> Any:
            if _WRITES.search(sql):
                for name, query in queries.items():
                    answers[name].append(pool.submit(ask, query))
                time.sleep(0.02)
            return send(sql)

        before = {name: ask(query) for name, query in queries.items()}
        with intercepted(read_too):
            table.apply([(key, 2, 2, key % 4 == 0) for key in range(0, 200, 2)] + [(key, 3, 2) for key in (200, 201)])
        after = {name: ask(query) for name, query in queries.items()}
    for name in queries:
        assert before[name] != after[name]
        assert len(answers[name]) >= 4
        assert {answer.result() for answer in answers[name]} <= {before[name], after[name]}


def test_a_repair_does_not_end_a_state_again(make_project: MakeProject) -> None:
    """Another writer inserts the row of an ended state; the repair cancels it."""
    table = Table(make_project("history_repaired"), change_feed=True)
    for version in (5, 6):
        table.apply([(1, version, version)])
    table.command("insert into target (id, x, _version, _sign) values (1, 5, 5, 1)")
    table.operation("rebalance", model="target", dry_run=False)
    # A row that is stored twice, one of which a repair cancels, is still valid.
    table.apply([(2, 5, 5)])
    table.command("insert into target (id, x, _version, _sign) values (2, 5, 5, 1)")
    table.operation("rebalance", model="target", dry_run=False)
    table.apply([(2, 7, 7)])
    versions = f"select id, x, valid_from, valid_to from {compiled(table, 'versions')} order by id, valid_from"
    assert table.query(versions) == [(1, 5, 5, 6), (1, 6, 6, None), (2, 5, 5, 7), (2, 7, 7, None)]
    assert table.query(f"select id, x from {compiled(table, 'as_of', 'version=5')} order by id") == [(1, 5), (2, 5)]
