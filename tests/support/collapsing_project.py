"""A dbt project on stock dbt-clickhouse that shares only macros and tests with this one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import patch

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from dbt.adapters.events.logging import AdapterLogger

from tests.support import commands
from tests.support.balance import assert_ledger_adds_up
from tests.support.commands import Node, Outcome
from tests.support.shop import REPOSITORY

Row = tuple[Any, ...]
LOCK_SECONDS = 60  # as in the macros


class OperationError(Exception):
    """A `dbt run-operation` failed."""


class CollapsingProject:
    """Models in a folder, run by dbt against a ClickHouse server."""

    def __init__(self, folder: Path, address: tuple[str, int], schema: str) -> None:
        host, port = address
        self.schema = schema
        self.folder = folder
        self.events: list[Any] = []  # dbt's EventMsg, from the last command
        self.has_log = False  # whether dbt writes its log
        self._models = folder / "models"
        self._models.mkdir(parents=True)
        self.client: Client = clickhouse_connect.get_client(host=host, port=port)
        self.client.command(f"create database if not exists {schema}")
        self._profile = {
            "type": "clickhouse",
            "driver": "http",
            "host": host,
            "port": port,
            "schema": schema,
            "threads": 1,
        }
        self._variables: dict[str, Any] = {}
        self._seconds = LOCK_SECONDS
        self.set_profile()
        self.set_variables()

    def set_variables(self, **variables: Any) -> None:
        """Write the project file, with variables."""
        self._variables = variables
        self._write(
            "dbt_project.yml",
            {
                "name": "versioned_collapsing",
                "profile": "host",
                "version": "1.0",
                # The test's own macros may override ours.
                "macro-paths": [str(REPOSITORY / "macros"), str(REPOSITORY / "tests" / "generic"), "macros"],
                "vars": {"versioned_collapsing_lock_seconds": self._seconds, **variables},
                "flags": {"send_anonymous_usage_stats": False},
            },
        )

    def _write(self, name: str, content: Any) -> None:
        (self.folder / name).write_text(json.dumps(content))  # JSON is YAML

    def set_profile(self, **more: Any) -> None:
        """Write the profile, with further keys."""
        outputs = {"test": {**self._profile, **more}}
        self._write("profiles.yml", {"host": {"target": "test", "outputs": outputs}})

    def add_model(self, name: str, config: Mapping[str, Any], sql: str) -> None:
        """Add a versioned_collapsing model."""
        settings = {"materialized": "versioned_collapsing", **config}
        (self._models / f"{name}.sql").write_text(f"{{{{ config(**{settings!r}) }}}}\n{sql}\n")

    def add_view(self, name: str, order_by: str | list[str], sql: str, **config: Any) -> None:
        """Add a versioned_collapsing_view model."""
        self.add_model(name, {"materialized": "versioned_collapsing_view", "order_by": order_by, **config}, sql)

    def declare(self, name: str, columns: Mapping[str, str]) -> None:
        """Declare the columns of a model with their types."""
        declared = [{"name": column, "data_type": kind} for column, kind in columns.items()]
        self.add_properties(name, {"models": [{"name": name, "columns": declared}]})

    def add_properties(self, name: str, properties: Mapping[str, Any]) -> None:
        """Add a file of properties: of models and sources, with their tests."""
        (self._models / f"{name}.yml").write_text(json.dumps(properties))

    def run(self, *arguments: str) -> dict[str, Node]:
        """`dbt run`. Return dbt's result for each model."""
        return self.dbt("run", *arguments)

    def build(self, *arguments: str) -> dict[str, str]:
        """`dbt run` of models that must all succeed. Return the message of each."""
        outcomes = self.run(*arguments)
        assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
        return {name: outcome.message for name, outcome in outcomes.items()}

    def dbt(self, *arguments: str) -> dict[str, Node]:
        """Run a dbt command. Return its result for each node.

        Raises:
            AssertionError: the ledger does not account for every event.
        """
        outcome = self._invoke(*arguments)
        assert_ledger_adds_up(self.query, self.schema)
        return outcome.nodes

    def operation(self, macro: str, **arguments: Any) -> str:
        """`dbt run-operation`. Return the lines that it logged or printed.

        Raises:
            OperationError: it failed; the text says why.
        """
        self._invoke("run-operation", macro, "--args", json.dumps(arguments))
        failures = [event for event in self.events if event.info.name == "RunningOperationCaughtError"]
        if failures:
            raise OperationError(failures[0].info.msg)
        return self.logged("JinjaLogInfo", "PrintEvent")

    def logged(self, *names: str) -> str:
        """The lines that the last dbt command logged in events of these names."""
        return "\n".join(event.info.msg for event in self.events if event.info.name in names)

    def run_apart(self, *arguments: str) -> Outcome:
        """Run a dbt command in a process of its own, in which nothing is parsed anew."""
        self._expect_dead_runs(True)
        (outcome,) = commands.run_all([arguments], self.folder, {**os.environ, "OWN_JVM": "yes"})
        return outcome

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a dbt command in a process of its own."""
        self._expect_dead_runs(True)
        return commands.start(*arguments, folder=self.folder, stdout=subprocess.PIPE)

    def _invoke(self, *arguments: str) -> Outcome:
        self.events.clear()
        folder = str(self.folder)
        folders = ("--project-dir", folder, "--profiles-dir", folder)
        # Writing the manifest takes dbt as long as a small apply, a log a fifth of it, and what only a log shows a tenth.
        quick = ["--no-write-json"] if arguments[0] in ("run", "run-operation") else []
        if not self.has_log:
            quick += ["--log-level-file", "none"]
        with nullcontext() if self.has_log else patch.object(AdapterLogger, "debug", return_value=None):
            outcome = commands.invoke("--quiet", *quick, *arguments, *folders, callbacks=[self.events.append])
        assert outcome.exception is None, outcome.exception
        self._expect_dead_runs(not outcome.success or (self._seconds < LOCK_SECONDS and self._has_locks()))
        return outcome

    def _expect_dead_runs(self, may_be_dead: bool) -> None:
        """Where a run may have died, the next one takes over its lock after a second, not after a minute."""
        seconds = 1 if may_be_dead else LOCK_SECONDS
        if seconds != self._seconds:
            self._seconds = seconds
            self.set_variables(**self._variables)

    def _has_locks(self) -> bool:
        locks = f"startsWith(database, '{self.schema}') and endsWith(name, '__dbt_lock')"
        return bool(self.query(f"select 1 from system.tables where {locks} limit 1"))

    def query(self, sql: str) -> list[Row]:
        """The rows of a query, in the project's schema."""
        result = self.client.query(sql, settings={"database": self.schema})
        return [tuple(row) for row in result.result_rows]

    def command(self, sql: str) -> None:
        """Run a statement, in the project's schema."""
        self.client.command(sql, settings={"database": self.schema})

    def replace_rows(self, table: str, structure: str, rows: Iterable[Row]) -> None:
        """Recreate ``table`` with these rows. A row may omit its last columns, which then get their types' defaults."""
        self.command(f"create or replace table {table} ({structure}) engine = Memory")
        by_width = {width: list(some) for width, some in groupby(sorted(rows, key=len), key=len)}
        names = [row[0] for row in self.query(f"describe table {table}")] if by_width else []
        for width, some in by_width.items():
            self.client.insert(table, some, column_names=names[:width], database=self.schema)
