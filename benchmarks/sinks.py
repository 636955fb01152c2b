"""Whether ways to apply changes to a table in ClickHouse are right, by the kit in plugins/sink-conformance.

Each apply is a process of its own, which the kit kills. The table is on an HTTP front of the engine.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlencode

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from benchmarks.measure import write_results
from sink_conformance import HISTORIES, Change, Size, measure, report
from sink_conformance.command import CommandSink
from sink_conformance.histories import batches
from sink_conformance.page import page, summary
from tests.support.chdb_http import running_server
from tests.support.collapsing_project import CollapsingProject
from tests.support.forked_dbt import ForkServer

ROW = "id, name, amount, region"
STRUCTURE = "id Int64, name String, amount Int64, region Nullable(String)"
CHANGES = f"{STRUCTURE}, _version UInt64, _is_deleted UInt8, _is_truncate Bool"
SCHEMA = "sinks"
SEED = 1
_FORKS = multiprocessing.get_context("forkserver")


class Line(NamedTuple):
    """A row of a change set. A truncate has no row."""

    id: int
    name: str
    amount: int
    region: str | None
    version: int
    is_deleted: int
    is_truncate: bool = False


def by_commit(change: Change) -> int:
    """The order in which transactions committed, and within each the order of its changes."""
    return int(change["commit"]) * 1_000_000 + int(change["seq"])


def by_log(change: Change) -> int:
    """The order of the log, which is not that of commits."""
    return int(change["lsn"])


@dataclass(frozen=True)
class Way:
    """A way to apply changes.

    Args:
        rows: the query of readers.
        config: of its dbt model, if it has one.
        select: of this model.
        tables: without dbt, the statements that create its table and others.
        into: without dbt, the table into which changes are inserted.
        deleted: the name of the column there for deletes, and its value for an upsert and for a delete.
        version: what orders changes.
    """

    rows: str
    config: Mapping[str, Any] = field(default_factory=dict)
    select: str = f"select {ROW}, _version, _is_deleted, _is_truncate from changes"
    tables: Sequence[str] = ()
    into: str = ""
    deleted: tuple[str, int, int] = ("_is_deleted", 0, 1)
    version: Callable[[Change], int] = by_commit


OURS = {"materialized": "versioned_collapsing", "unique_key": "id"}
BY_SIGN = f"select {ROW} from target final where _sign = 1"
REPLACING = Way(
    f"select {ROW} from target final",
    tables=[
        f"create table target ({STRUCTURE}, _version UInt64, _is_deleted UInt8) "
        "engine = ReplacingMergeTree(_version, _is_deleted) order by id"
    ],
    into="target",
)
# After https://kb.altinity.com/engines/mergetree-table-engine-family/versioned-collapsing-mergetree/, with its deletes.
PUBLISHED = Way(
    BY_SIGN,
    tables=[
        f"create table target ({STRUCTURE}, _version UInt64, _sign Int8) "
        "engine = VersionedCollapsingMergeTree(_sign, _version) order by id",
        f"create table incoming ({STRUCTURE}, _version UInt64, _sign Int8) engine = Null",
        "create materialized view look_up to target as "
        "with new as (select * from incoming order by _version desc, _sign desc limit 1 by id), "
        "old as (select *, arrayJoin([-1, 1]) as row_sign from "
        "(select * from target final prewhere id in (select id from new) where _sign = 1)) "
        "select id, if(old.row_sign = -1, old.name, new.name) as name, "
        "if(old.row_sign = -1, old.amount, new.amount) as amount, "
        "if(old.row_sign = -1, old.region, new.region) as region, "
        "if(old.row_sign = -1, old._version, new._version) as _version, if(old.row_sign = -1, -1, 1) as _sign "
        "from new left join old using id "
        "where if(new._sign = -1, old.row_sign = -1, new._version > old._version) settings join_use_nulls = 0",
    ],
    into="incoming",
    deleted=("_sign", 1, -1),
)
WAYS = {
    "versioned_collapsing, atomic": Way(BY_SIGN, {**OURS, "publish": "atomic"}),
    "versioned_collapsing, chunks: 3": Way(BY_SIGN, {**OURS, "chunks": 3}),
    "versioned_collapsing, journal": Way(BY_SIGN, {**OURS, "publish": "journal"}),
    "dbt-clickhouse delete_insert": Way(
        f"select {ROW} from target where not _is_deleted",
        {
            "materialized": "incremental",
            "incremental_strategy": "delete_insert",
            "engine": "MergeTree()",
            "order_by": "id",
            "unique_key": "id",
        },
        f"select {ROW}, _version, _is_deleted from changes order by _version desc limit 1 by id",
    ),
    "ReplacingMergeTree, FINAL": REPLACING,
    "ReplacingMergeTree, FINAL, by log position": Way(
        REPLACING.rows, tables=REPLACING.tables, into=REPLACING.into, version=by_log
    ),
    "published technique": PUBLISHED,
}


class WaySink(CommandSink):
    """A way, for the kit. Readers use HTTP, and each apply is a fork: of a process that has parsed the project, if dbt
    runs, and otherwise of one that has imported ClickHouse's driver."""

    def __init__(self, way: Way, folder: Path, address: tuple[str, int]) -> None:
        host, port = address
        self._way, self._address = way, address
        query = {"database": SCHEMA, "query": f"{way.rows} format JSONEachRow"}
        super().__init__("", "", f"http://{host}:{port}/?{urlencode(query)}")
        self._error = folder / "error.txt"
        self._dbt = None
        if way.config:
            self._project = CollapsingProject(folder / "project", address, SCHEMA)
            self._project.set_variables(versioned_collapsing_lock_seconds=1)
            self._project.add_model("target", way.config, way.select)
            self._dbt = ForkServer(folder / "project")

    def reset(self) -> None:
        """A new database, with an empty table."""
        client = clickhouse_connect.get_client(host=self._address[0], port=self._address[1])
        client.command(f"drop database if exists {SCHEMA} sync")
        client.command(f"create database {SCHEMA}")
        for table in self._way.tables:
            client.command(table, settings={"database": SCHEMA})
        if self._dbt:
            failure = self._run_dbt([], None)
            if failure:
                raise RuntimeError(failure)

    def apply(self, file: Path, batch: int, kill_after: float | None = None) -> str:
        """Apply the changes in a process."""
        lines = list(_lines(file, self._way.version))
        if self._dbt:
            return self._run_dbt(lines, kill_after)
        self._error.unlink(missing_ok=True)
        process = _FORKS.Process(target=_insert, args=(self._way, self._address, lines, self._error))
        process.start()
        process.join(kill_after)
        if process.is_alive():
            process.kill()
            process.join()
            return "killed"
        return self._error.read_text() if self._error.exists() else ""

    def _run_dbt(self, lines: Sequence[Line], kill_after: float | None) -> str:
        assert self._dbt
        if self._way.config["materialized"] != "versioned_collapsing":
            lines = _truncated(self._project.client, lines)
        self._project.replace_rows("changes", CHANGES, map(tuple, lines))
        fork = self._dbt.start("--quiet", "--no-write-json", "--log-level-file", "none", "run")
        deadline = time.monotonic() + (kill_after or 600)
        while not fork.has_ended():
            if time.monotonic() > deadline:
                fork.kill()
            time.sleep(0.002)
        end = fork.wait()
        return "killed" if end["signal"] else "" if end["success"] else end["message"] or "dbt failed"


def _insert(way: Way, address: tuple[str, int], lines: Sequence[Line], error: Path) -> None:
    """Apply changes without dbt."""
    try:
        client = clickhouse_connect.get_client(host=address[0], port=address[1])
        column, upsert, delete = way.deleted
        names = [*ROW.split(", "), "_version", column]
        rows = [(*line[:5], delete if line.is_deleted else upsert) for line in _truncated(client, lines)]
        client.insert(way.into, rows, column_names=names, database=SCHEMA)
    except Exception as failure:
        error.write_text(repr(failure))
        raise


def _truncated(client: Client, lines: Sequence[Line]) -> list[Line]:
    """The changes after the last truncate, which empties the table at once: a way that knows no truncate among its rows
    can do no better."""
    truncates = [line.version for line in lines if line.is_truncate]
    later = [line for line in lines if line.version > max([*truncates, -1])]
    if truncates:
        client.command(f"truncate table {SCHEMA}.target sync")
    return later


def _lines(file: Path, version: Callable[[Change], int]) -> Iterator[Line]:
    """What a parser makes of the changes: a delete of the old key where a key changes."""
    for text in file.read_text().splitlines():
        change = json.loads(text)
        before, after, at = change["before"], change["after"], version(change)
        if change["op"] == "t":
            yield Line(0, "", 0, None, at, 0, True)
        elif before and (not after or before["id"] != after["id"]):
            yield Line(**before, version=at, is_deleted=1)
        if after:
            yield Line(**after, version=at, is_deleted=0)


def measure_sinks(results: Path, size: Size, names: Sequence[str] = tuple(WAYS)) -> None:
    """Measure ways, and write sinks.json, sinks.md, the kit's reports and page, and the histories."""
    _FORKS.set_forkserver_preload(["benchmarks.sinks", "pandas"])
    reports = []
    for name in names:
        with TemporaryDirectory() as folder, running_server(Path(folder, "server")) as address:
            work = Path(folder, "work")
            work.mkdir()
            found = measure(WaySink(WAYS[name], work, address), Path(folder, "changes"), SEED, size)
        reports.append(report(name, SEED, size, found))
        print(f"{name}\n{summary(reports[-1])}", flush=True)
    results.mkdir(parents=True, exist_ok=True)
    (results / "sinks_reports.json").write_text(json.dumps(reports, indent=1) + "\n")
    (results / "sinks.html").write_text(page(reports))
    (results / "sinks_histories.jsonl.gz").write_bytes(gzip.compress(histories(size).encode(), mtime=0))
    write_results(results, "sinks", {"seed": SEED, **vars(size)}, tables_of(reports))


def histories(size: Size) -> str:
    """The changes that each way had to take, one a line, with the class of the history and the number of the batch."""
    lines = [
        json.dumps({"history": name, "batch": number, **change})
        for name in HISTORIES
        for number, batch in enumerate(batches(name, SEED, size.batches, size.changes, size.rows))
        for change in batch.changes
    ]
    return "\n".join(lines) + "\n"


def tables_of(reports: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What the reports say, as tables: wrong rows by class of histories, and what readers saw."""
    wrong, seen = [], []
    for found in reports:
        histories = found["histories"]
        wrong.append({"way": found["sink"], **{name: each["wrong_per_million"] for name, each in histories.items()}})
        reads, torn = (sum(each[name] for each in histories.values()) for name in ("reads", "torn"))
        in_order = histories["in order"]
        seen.append(
            {
                "way": found["sink"],
                "reads": reads,
                "torn": torn,
                "torn, %": round(100 * torn / reads, 2),
                "failed applies": sum(each["failed"] for each in histories.values()),
                "kills": sum(each["kills"] for each in histories.values()),
                "rows visible after, s": in_order["freshness"],
                "apply, s": in_order["seconds"],
            }
        )
    return {"wrong rows per million": wrong, "what readers see": seen}
