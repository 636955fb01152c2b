"""On a server behind HTTP: simultaneous applies, and Spark tables that dbt sends instead of ClickHouse reading them.

Several connections can win only what a single one leaves unused of the machine. So an apply of a table is compared with
applies of its halves and quarters, which are separate tables and share nothing but the server.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.tables import Row
from tests.support.chdb_http import running_server
from tests.support.collapsing_project import CollapsingProject
from tests.support.commands import run_all
from tests.support.statements import Send, intercepted

SCHEMA = "bench"
COLUMNS = (
    "toInt32(number) as id, toString(number % 1000) as department, number % 977 as metric1, "
    "number % 991 as metric2, toUInt64({version}) as _version, false as _is_deleted"
)
CPU = "select sum(value) / 1e6 from system.events where event in ('UserTimeMicroseconds', 'SystemTimeMicroseconds')"
PARTS = (1, 2, 4)
# The columns of a hand-off, as Spark makes them.
WIDE = (
    "select id, cast(id % 977 as int) as a, cast(id * 1.5 as double) as b, cast(id as decimal(18, 2)) as c, "
    "concat('text ', id) as d, concat('country ', id % 50) as e, timestamp_seconds(id) as f, id % 2 = 0 as g "
    "from range({rows})"
)


class Parts:
    """A table as a whole, in halves and in quarters, each with changes spread over all of it."""

    def __init__(self, folder: Path, address: tuple[str, int], rows: int, changes: int) -> None:
        self.rows, self.step = rows, rows // changes
        self.project = CollapsingProject(folder, address, SCHEMA)
        self.models = {parts: [f"part_{number}_of_{parts}" for number in range(parts)] for parts in PARTS}
        for parts, models in self.models.items():
            for number, model in enumerate(models):
                first, last = (rows * edge // parts for edge in (number, number + 1))
                where = f"where id >= {first} and id < {last}"
                self.project.add_model(model, {"unique_key": "id"}, f"select * from input {where}")
        self._version = 0

    def fill(self) -> None:
        self._make_input(step=1)
        self.run(1, connections=1)
        for parts in PARTS[1:]:
            self.run(parts, connections=1)

    def change(self) -> None:
        self._make_input(self.step)

    def run(self, parts: int, connections: int) -> tuple[float, float]:
        """Apply to all parts. Return the seconds from the first statement to the last, and the CPU seconds on the
        server."""
        ((before,),) = self.project.query(CPU)
        with _span() as span:
            outcomes = self.project.run("--threads", str(connections), "--select", *self.models[parts])
        if {outcome.status for outcome in outcomes.values()} != {"success"}:
            raise RuntimeError(f"dbt run failed: {outcomes}")
        ((after,),) = self.project.query(CPU)
        return span[-1] - span[0], after - before

    def check(self) -> None:
        """Whole, halves and quarters have the same rows.

        Raises:
            RuntimeError: they do not.
        """
        sums = {
            str(
                self.project.query(
                    "select sum(n), sum(m), sum(v) from ("
                    + " union all ".join(
                        f"select sum(_sign) as n, sum(metric1 * _sign) as m, sum(_version * _sign) as v from {model}"
                        for model in models
                    )
                    + ")"
                )
            )
            for models in self.models.values()
        }
        if len(sums) != 1:
            raise RuntimeError(f"the parts differ: {sums}")

    def _make_input(self, step: int) -> None:
        self._version += 1
        self.project.command(
            "create or replace table input engine = MergeTree order by id as select "
            f"{COLUMNS.format(version=self._version)} from numbers(0, {self.rows}, {step})"
        )


@contextmanager
def _span() -> Iterator[list[float]]:
    """The times at which dbt's statements began and ended within the block."""
    moments: list[float] = []

    def timed(send: Send, sql: str) -> Any:
        moments.append(time.perf_counter())
        try:
            return send(sql)
        finally:
            moments.append(time.perf_counter())

    with intercepted(timed):
        yield moments


def measure_connections(rows: int, changes: int, trials: int) -> list[Row]:
    """An apply of a table, of its halves and of its quarters: one after another, and at once."""
    with TemporaryDirectory() as folder, running_server(Path(folder, "server")) as address:
        parts = Parts(Path(folder, "project"), address, rows, changes)
        parts.fill()
        ways = [(number, number) for number in PARTS] + [(number, 1) for number in PARTS[1:]]
        found: dict[tuple[int, int], list[tuple[float, float]]] = {way: [] for way in ways}
        for trial in range(trials + 1):
            for number in PARTS:
                # Ways with the same number of parts share tables: the second one makes its own changes to the same
                # rows.
                for way in (way for way in ways if way[0] == number):
                    parts.change()
                    seconds = parts.run(*way)
                    print(f"  {trial or 'warm-up'}: {way} {seconds}", flush=True)
                    if trial:
                        found[way].append(seconds)
        for number in PARTS:  # Only the last way has had the last changes: apply them to all.
            parts.run(number, 1)
        parts.check()
    return [
        {
            "tables": number,
            "connections": connections,
            "seconds": round(statistics.median(seconds for seconds, _ in runs), 2),
            "cores in use": round(statistics.median(cpu / seconds for seconds, cpu in runs), 2),
        }
        for (number, connections), runs in found.items()
    ]


def measure_hand_offs(rows: int, trials: int) -> list[Row]:
    """A Spark table, read by ClickHouse or sent by dbt, with the `create table` from it."""
    seconds: dict[str, list[float]] = {"pull": [], "push": []}
    with TemporaryDirectory() as name, running_server(Path(name, "server")) as address:
        folder = Path(name, "project")
        _write_project(folder, address, rows)
        # A push sends a table only once, so Spark rewrites it for each trial.
        commands = [
            ["run", "--target", way, "--target-path", f"{way}_{trial}_{model}", "--select", model]
            for trial in range(trials + 1)
            for way in seconds
            for model in ("wide", "taken")
        ]
        for command, outcome in zip(commands, run_all(commands, folder), strict=True):
            if not outcome.success:
                raise RuntimeError(f"dbt {' '.join(command)} failed: {outcome.output}")
        for way, runs in seconds.items():
            for trial in range(1, trials + 1):
                results = (folder / f"{way}_{trial}_taken" / "run_results.json").read_text()
                runs.append(json.loads(results)["results"][0]["execution_time"])
    return [{"hand-off": way, "seconds": round(statistics.median(runs), 2)} for way, runs in seconds.items()]


def _write_project(folder: Path, address: tuple[str, int], rows: int) -> None:
    (folder / "models").mkdir(parents=True)
    models = {
        "wide": "{{ config(materialized='table', database='spark') }}\n" + WIDE.format(rows=rows),
        "taken": "{{ config(materialized='table', database='clickhouse') }}\nselect * from {{ ref('wide') }}",
    }
    for name, sql in models.items():
        (folder / "models" / f"{name}.sql").write_text(sql)
    outputs = {
        way: {
            "type": "spark_clickhouse",
            "schema": SCHEMA,
            "threads": 1,
            "home": str(folder / "home"),
            "hand_off": way,
            "clickhouse": {"host": address[0], "port": address[1]},
        }
        for way in ("pull", "push")
    }
    project = {"name": "bench", "profile": "bench", "flags": {"send_anonymous_usage_stats": False}}
    files: dict[str, Any] = {
        "dbt_project.yml": project,
        "profiles.yml": {"bench": {"target": "pull", "outputs": outputs}},
    }
    for file, content in files.items():
        (folder / file).write_text(json.dumps(content))


def measure_servers(rows: int, changes: int, sent: Sequence[int], trials: int) -> dict[str, list[Row]]:
    """Both."""
    return {
        f"applies at once: {rows:,} rows, {changes:,} changes": measure_connections(rows, changes, trials),
        **{f"hand-off of {size:,} rows": measure_hand_offs(size, trials) for size in sent},
    }
