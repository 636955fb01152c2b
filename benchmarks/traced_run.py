"""One dbt command, with a clock on its phases and statements.

    python -m benchmarks.traced_run FILE STARTED COMMAND…

It writes to FILE the seconds since STARTED (a time since 1970) by phase, and each statement. The command must run on
one thread, so that phases do not overlap.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PYTHON = "Python and dbt's modules"
PROJECT = "adapter and project"
DBT = "dbt between statements"
JVM = "JVM"
SESSION = "Spark's session"
CATALOG = "catalog"
FIRST = "first query on Spark"
SPARK = "statements on Spark"
CLICKHOUSE = "statements on ClickHouse"
END = "end"
PHASES = (PYTHON, PROJECT, JVM, SESSION, CATALOG, FIRST, SPARK, CLICKHOUSE, DBT, END)


class Clock:
    """The seconds of each phase. The time of an inner phase counts only for that phase."""

    def __init__(self, started: float) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._phases = [PYTHON]
        self._since = started

    def next(self, phase: str) -> None:
        """End the phase, and begin another."""
        self._spend()
        self._phases[-1] = phase

    @contextmanager
    def within(self, phase: str) -> Iterator[None]:
        """Be in another phase within the block."""
        self._spend()
        self._phases.append(phase)
        try:
            yield
        finally:
            self._spend()
            self._phases.pop()

    def _spend(self) -> None:
        now = time.time()
        self.seconds[self._phases[-1]] += now - self._since
        self._since = now


def main() -> None:
    file, started, *command = sys.argv[1:]
    clock = Clock(float(started))
    from dbt.cli.main import dbtRunner

    clock.next(PROJECT)
    statements: list[dict[str, Any]] = []

    def see(event: Any) -> None:
        if event.info.name == "FoundStats":  # the project is parsed
            clock.next(DBT)
            _time_engines(clock, statements)

    outcome = dbtRunner(callbacks=[see]).invoke(command)
    clock.next(END)
    Path(file).write_text(json.dumps({"seconds": clock.seconds, "statements": statements}))
    sys.exit(not outcome.success)


def _time_engines(clock: Clock, statements: list[dict[str, Any]]) -> None:
    from dbt.adapters.spark_clickhouse import private_api
    from dbt.adapters.spark_clickhouse.clickhouse.engine import RoutedClickHouseConnectionManager
    from dbt.adapters.spark_clickhouse.spark import engine as spark_engine
    from dbt.adapters.spark_clickhouse.spark import metastore
    from dbt.adapters.spark_clickhouse.spark.engine import RoutedSparkConnectionManager

    def time_calls(owner: Any, name: str, phase: Callable[[], str]) -> None:
        call = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            with clock.within(phase()):
                return call(*args, **kwargs)

        setattr(owner, name, timed)

    def time_statements(manager: Any, engine: str, phase: Callable[[], str]) -> None:
        execute = manager.execute

        def timed(self: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
            own = phase()
            before = clock.seconds[own]
            with clock.within(own):
                found = execute(self, sql, *args, **kwargs)
            text = " ".join(sql.split())
            took = clock.seconds[own] - before
            statements.append({"engine": engine, "seconds": round(took, 3), "statement": text[:90]})
            return found

        manager.execute = timed

    time_calls(private_api, "launch_gateway", lambda: JVM)
    time_calls(spark_engine, "start_session", lambda: SESSION)
    time_calls(metastore, "prepare", lambda: CATALOG)
    time_statements(
        RoutedSparkConnectionManager, "Spark", lambda: SPARK if clock.seconds[FIRST] or clock.seconds[SPARK] else FIRST
    )
    time_statements(RoutedClickHouseConnectionManager, "ClickHouse", lambda: CLICKHOUSE)


if __name__ == "__main__":
    main()
