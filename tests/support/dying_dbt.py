"""Runs dbt commands in one process and kills it, together with Spark, at a chosen operation.

Run it as a script: the arguments are a file with the plan, and a file for what was seen.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dbt.adapters.spark.session import SessionConnectionWrapper
from dbt.cli.main import dbtRunner
from pyspark import SparkContext

from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials
from dbt.adapters.spark_clickhouse.spark import engine as spark_engine

_CHANGES = {"os.link", "os.rename", "os.remove", "os.rmdir", "os.mkdir"}


class Deaths:
    """Counts what dbt itself does: statements on Spark, and changes below the warehouse."""

    def __init__(self) -> None:
        self.seen: dict[str, list[str]] = {}
        self.files: Any = None
        self.dying: dict[str, Any] = {}

    def arm(self, death: dict[str, Any]) -> None:
        """Die before or after an operation, given by its kind and its number among those that match."""
        self.seen = {"statement": [], "python": []}
        self.dying = death
        if SparkContext._active_spark_context is not None:
            self.arm_spark()

    def arm_spark(self) -> None:
        """Arm the same death in Spark's JVM."""
        if self.dying and self.files is None:
            self.files = SparkContext._active_spark_context._jvm.deaths.Deaths  # type: ignore[union-attr]
            number = self.dying["number"] if self.dying["kind"] == "file" else 0
            self.files.arm(os.getpid(), self.dying["pattern"], number, self.dying["is_after"])

    def begin(self, kind: str, what: str) -> bool:
        """Note that an operation begins. Return whether it is the one to die at."""
        if kind not in self.seen:
            return False
        self.seen[kind].append(what)
        is_it = (kind, len(self.seen[kind])) == (self.dying["kind"], self.dying["number"])
        if is_it and not self.dying["is_after"]:
            die()
        return is_it


def die() -> None:
    """Kill this process and its Spark."""
    os.killpg(0, signal.SIGKILL)


def _count_statements(deaths: Deaths) -> None:
    execute: Callable[..., None] = SessionConnectionWrapper.execute

    def counted(self: Any, sql: str, bindings: Any = None) -> None:
        is_last = deaths.begin("statement", sql)
        execute(self, sql, bindings)
        if is_last:
            die()

    setattr(SessionConnectionWrapper, "execute", counted)  # noqa: B010


def _arm_spark_when_it_starts(deaths: Deaths) -> None:
    start = spark_engine.start_session

    def armed(credentials: EmbeddedSparkCredentials, wait: int) -> None:
        start(credentials, wait)
        deaths.arm_spark()

    spark_engine.start_session = armed


def _count_changes(deaths: Deaths) -> None:
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _CHANGES or not deaths.seen:
            return
        frame = sys._getframe()
        while frame.f_back and not frame.f_code.co_filename.endswith("table_folders.py"):
            frame = frame.f_back
        if frame.f_back:
            deaths.begin("python", f"{event} {arguments[0]}")

    sys.addaudithook(audit)


def _spark_rows(sql: str) -> list[list[Any]]:
    from pyspark.sql import SparkSession

    return [list(row) for row in SparkSession.builder.getOrCreate().sql(sql).collect()]


def main(plan: Path, seen: Path) -> None:
    """Run the commands of ``plan``. Before each next one, write down what the last one did."""
    deaths = Deaths()
    _count_statements(deaths)
    _count_changes(deaths)
    _arm_spark_when_it_starts(deaths)
    outcomes = []
    for step in json.loads(plan.read_text()):
        for path, text in step["land"].items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text)
        if step["death"]["kind"]:
            deaths.arm(step["death"])
        result = dbtRunner().invoke(step["command"])
        nodes = getattr(result.result, "results", None) or []
        outcomes.append(
            {
                "success": result.success,
                "exception": str(result.exception) if result.exception else None,
                "messages": {run.node.name: [str(run.status), run.message] for run in nodes},
                "rows": {name: _spark_rows(sql) for name, sql in step["queries"].items()},
                "files": [str(path) for path in Path(step["folder"]).glob("*")],
                "operations": {**deaths.seen, "file": list(deaths.files.seen) if deaths.files else []},
            }
        )
        deaths.seen = {}
        seen.write_text(json.dumps(outcomes, default=str))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
