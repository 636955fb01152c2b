"""The embedded ClickHouse engine and dbt in one process, with a clock on every statement."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import clickhouse_connect

from tests.support.commands import invoke
from tests.support.statements import Send, intercepted

REPOSITORY = Path(__file__).resolve().parents[1]
SCHEMA = "bench"
# Nothing is written to a log until it is flushed.
LOG = (
    "<{0}><database>system</database><table>{0}</table>"
    "<flush_interval_milliseconds>86400000</flush_interval_milliseconds></{0}>"
)


class Engine:
    """One data folder; ``query`` and ``command`` run on it directly, ``dbt`` through a project.

    ``logs`` are the ClickHouse logs to keep: of every query for ``memory`` (query_log), of every written part
    (part_log). They take time and memory, so no other measurement keeps them.
    """

    def __init__(self, folder: Path, logs: Collection[str] = ()) -> None:
        self.folder = folder
        self.project = folder / "project"
        (self.project / "models").mkdir(parents=True)
        home = folder / "home"
        self._write(
            "profiles.yml",
            {
                "bench": {
                    "target": "embedded",
                    "outputs": {
                        "embedded": {"type": "spark_clickhouse", "schema": SCHEMA, "home": str(home), "threads": 1}
                    },
                }
            },
        )
        self._write(
            "dbt_project.yml",
            {
                "name": "versioned_collapsing",
                "profile": "bench",
                "version": "1.0",
                "macro-paths": [str(REPOSITORY / "macros")],
                "flags": {"send_anonymous_usage_stats": False},
            },
        )
        (home / "clickhouse").mkdir(parents=True)
        path = str(home / "clickhouse")
        if logs:
            config = folder / "logs.xml"
            config.write_text(f"<clickhouse>{''.join(LOG.format(log) for log in logs)}</clickhouse>")
            path += f"?config-file={config}"
        self._client = clickhouse_connect.get_client(interface="chdb", path=path, query_limit=0)
        self._logged = 0
        self.empty()

    def _write(self, name: str, content: Any) -> None:
        (self.project / name).write_text(json.dumps(content))  # JSON is YAML

    def empty(self) -> None:
        """Drop all tables and models. A process has one embedded engine, which the benchmarks share in turn."""
        self.command("use default")
        self.command(f"drop database if exists {SCHEMA} sync")
        self.command(f"create database {SCHEMA}")
        self.command(f"use {SCHEMA}")
        for model in (self.project / "models").glob("*.sql"):
            model.unlink()

    def command(self, sql: str) -> None:
        """Run a statement."""
        self._client.command(sql)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        result = self._client.query(sql)
        return [tuple(row) for row in result.result_rows]

    def add_model(self, name: str, config: Mapping[str, Any], sql: str) -> None:
        """Add a model to the project."""
        text = f"{{{{ config(**{dict(config)!r}) }}}}\n{sql}\n"
        (self.project / "models" / f"{name}.sql").write_text(text)

    def dbt(self, *arguments: str) -> float:
        """Run a dbt command. Return the seconds that its ClickHouse statements took.

        Raises:
            RuntimeError: the command failed.
        """
        folder = str(self.project)
        with _statements() as seconds:
            outcome = invoke(
                *("--quiet", "--no-write-json", *arguments), *("--project-dir", folder, "--profiles-dir", folder)
            )
        if not outcome.success:
            raise RuntimeError(f"dbt {' '.join(arguments)} failed: {outcome.exception}")
        return sum(seconds.values())

    def peak_memory(self, *arguments: str) -> float:
        """Run a dbt command. Return its peak memory in MiB, beyond what the process had before."""
        self.command("system jemalloc purge")
        Path("/proc/self/clear_refs").write_text("5")  # proc(5): resets the peak
        before = _memory("VmRSS")
        self.dbt(*arguments)
        return _memory("VmHWM") - before

    def seconds(self, *statements: str) -> float:
        """Run statements. Return the seconds that they took."""
        started = time.perf_counter()
        for statement in statements:
            self.command(statement)
        return time.perf_counter() - started

    def memory(self, statement: str, **settings: int) -> float:
        """Run a statement without a settings clause. Return its peak memory in MiB, as the engine counts it."""
        self._logged += 1
        comment = f"memory {self._logged}"
        more = {"max_untracked_memory": 1, "log_comment": f"'{comment}'"}
        stated = ", ".join(f"{name} = {value}" for name, value in {**settings, **more}.items())
        self.command(f"{statement} settings {stated}")
        self.command("system flush logs query_log")
        ((peak,),) = self.query(
            f"select max(memory_usage) from system.query_log where log_comment = '{comment}' and type = 'QueryFinish'"
        )
        return float(peak) / 2**20

    def clone(self, source: str, target: str) -> None:
        """Make ``target`` a table of the same parts as ``source``, hard-linked.

        It is read once, so that its index and marks are in memory, like those of a table in use.
        """
        self.command(f"drop table if exists {target} sync")
        self.command(f"create table {target} as {source}")
        self.command(f"alter table {target} attach partition all from {source}")
        self.command(f"select * from {target} format Null")


def _memory(name: str) -> float:
    """A figure of /proc/self/status, in MiB."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024


@contextmanager
def _statements() -> Iterator[dict[str, float]]:
    """The seconds of each statement that dbt sends to ClickHouse within the block."""
    seconds: dict[str, float] = {}

    def timed(send: Send, sql: str) -> Any:
        started = time.perf_counter()
        try:
            return send(sql)
        finally:
            seconds[f"{len(seconds)} {sql}"] = time.perf_counter() - started

    with intercepted(timed):
        yield seconds
