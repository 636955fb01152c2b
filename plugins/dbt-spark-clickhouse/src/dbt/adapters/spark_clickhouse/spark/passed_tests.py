"""Tests on Spark that passed, and need no Spark until something changes that they depend on.

A test that has passed is remembered with its SQL and with what Spark has read for it: the relations
of the metastore, and the files below folders of this machine. While no statement has changed those
relations, and those files are the same to the file system, the same SQL would find the same. Tests
that fail or warn are never remembered, nor is one that depends on anything else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import agate

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.spark.java import java_path
from dbt.adapters.spark_clickhouse.spark.metastore_record import MetastoreRecord
from dbt.adapters.spark_clickhouse.spark.session import environment, has_settings_of_start
from dbt.adapters.spark_clickhouse.spark.statement_inputs import StatementInputs, folder_state, inputs_of

MESSAGE = "passed before, and nothing has changed since: Spark was not asked"
DATA_TEST, UNIT_TEST = "test", "unit_test"
# What dbt asks of each kind, by the columns of the answer.
_OUTCOME = ("failures", "should_warn", "should_error")
_SIDE = "actual_or_expected"
# Code that is not Spark's own, which may change while its name stays the same.
_FOREIGN_CODE = (
    "spark.jars",
    "spark.files",
    "spark.plugins",
    "spark.submit.pyFiles",
    "spark.sql.extensions",
    "spark.driver.extraClassPath",
    "spark.executor.extraClassPath",
)
_VARIABLES = (
    *("SPARK_", "PYSPARK_", "JAVA_", "_JAVA_", "JDK_", "HADOOP_", "HIVE_", "YARN_"),
    *("CLASSPATH", "TZ", "LANG", "LC_", "LD_"),
)
_FOLDERS_OF_SETTINGS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "HIVE_CONF_DIR", "YARN_CONF_DIR")
_PACKAGES = ("dbt-core", "dbt-adapters", "dbt-spark")
_ZONE = "spark.sql.session.timeZone"


@dataclass
class TestRun:
    """One run of the statement of a test, which Spark is about to resolve."""

    __test__ = False  # for pytest

    record: MetastoreRecord
    key: str
    sql: str
    _changes: int = field(init=False)
    _inputs: StatementInputs | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.record.forget_test(self.key)
        self._changes = self.record.changes()

    def resolved(self, handle: Any) -> None:
        """Note what a session of dbt-spark has resolved, before it reads anything."""
        if self.key and has_settings_of_start(private_api.session_of(handle), _FOREIGN_CODE):
            self._inputs = inputs_of(handle, self.sql)

    def ended(self, found: agate.Table) -> None:
        """Remember the test if it passed, and if what it has read is still the same."""
        inputs = self._inputs
        if inputs is not None and _has_passed(found) and inputs.are_unchanged():
            known = {"relations": list(inputs.relations), "folders": inputs.folders}
            self.record.remember_test(self.key, known, self._changes)


@dataclass
class PassedTests:
    """The tests of one project on the embedded Spark.

    Args:
        config: dbt's.
        settings: of Spark, as the profile has them.
    """

    config: Any
    settings: Mapping[str, Any]
    spared: int = 0  # of which Spark was not asked
    _macros: tuple[Any, str] | None = None
    _unit_tests: dict[str, str] = field(default_factory=dict)

    def key(self, question: str, project_root: str, manifest: Any) -> str:
        """A key for what a test asks, of this project, in its surroundings; empty where a test that
        passes is not remembered."""
        if any(name.startswith(_FOREIGN_CODE) for name in self.settings):
            return ""
        with suppress(OSError, ValueError, KeyError):  # such as an unknown time zone
            known = [question, project_root, self._surroundings(manifest)]
            return hashlib.md5("\n".join(known).encode()).hexdigest()
        return ""

    def note_unit_test(self, unique_id: str, key: str) -> None:
        """Note the key of a unit test, of which only dbt knows what it asks."""
        self._unit_tests[unique_id] = key

    def key_of_unit_test(self, unique_id: str) -> str:
        """The key of a unit test, empty for none."""
        return self._unit_tests.get(unique_id, "")

    def has_passed(self, record: MetastoreRecord, key: str) -> bool:
        """Whether a test has passed, and would again."""
        if not key or private_api.is_full_refresh(self.config):
            return False
        known = record.test(key)
        try:
            passed = known is not None and StatementInputs(tuple(known["relations"]), known["folders"]).are_unchanged()
        except OSError:
            passed = False
        self.spared += passed
        return passed

    def _surroundings(self, manifest: Any) -> str:
        """What decides, besides its SQL and what it reads, what a test finds.

        The day is among it: Spark completes a time without a date with it.
        """
        variables = {name: value for name, value in environment().items() if _counts(name)}
        known = [
            datetime.now(ZoneInfo(str(self.settings.get(_ZONE, "UTC")))).date().isoformat(),
            [metadata.version(package) for package in _PACKAGES],
            sorted(variables.items()),
            sorted(private_api.project_variables(self.config).items()),
            self._hash_of_macros(manifest),
            [folder_state(folder) for folder in _folders_of_settings()],
            str(java_path()),
            folder_state(str(java_path())),
        ]
        return str(known)

    def _hash_of_macros(self, manifest: Any) -> str:
        if self._macros is None or self._macros[0] is not manifest:
            macros = sorted((name, macro.macro_sql) for name, macro in manifest.macros.items())
            self._macros = (manifest, hashlib.md5(str(macros).encode()).hexdigest())
        return self._macros[1]


def outcome_of_passed(kind: str) -> agate.Table:
    """What Spark would answer of a test that has passed."""
    if kind == DATA_TEST:
        types = [agate.Number(), agate.Boolean(), agate.Boolean()]
        return agate.Table([(0, False, False)], list(_OUTCOME), types)
    return agate.Table([], [_SIDE, "difference"], [agate.Text(), agate.Text()])


def _has_passed(found: agate.Table) -> bool:
    names = tuple(name.lower() for name in found.column_names)
    rows = [tuple(row.values()) for row in found.rows]
    if names == _OUTCOME:
        return len(rows) == 1 and all(value in (0, False) for value in rows[0])
    if _SIDE not in names:
        return False
    side = names.index(_SIDE)
    actual, expected = (
        sorted((row[:side] + row[side + 1 :] for row in rows if row[side] == which), key=repr)
        for which in ("actual", "expected")
    )
    return actual == expected and len(actual) + len(expected) == len(rows)


def _counts(variable: str) -> bool:
    return variable.startswith(_VARIABLES)


def _folders_of_settings() -> Iterable[str]:
    """The folders of files that settle what Spark does, as far as they are there."""
    spark = find_spec("pyspark")
    roots = [Path(found) for found in (environment().get("SPARK_HOME"),) if found]
    roots += [Path(spark.origin).parent] if spark and spark.origin else []
    named = [Path(found) for found in map(environment().get, _FOLDERS_OF_SETTINGS) if found]
    folders = [*named, *(root / name for root in roots for name in ("conf", "jars"))]
    return [str(folder) for folder in folders if folder.is_dir()]
