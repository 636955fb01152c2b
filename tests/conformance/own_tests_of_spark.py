"""Runs dbt-spark's own functional tests, from its source distribution, through our adapter.

    python tests/conformance/own_tests_of_spark.py [--stock] [options of pytest]

Our adapter runs every test except those left out. With ``--stock``, dbt-spark itself runs those left out, to show that
it fails them. pytest loads this file as a plugin.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pandas  # noqa: F401  # With the clock stopped (freezegun), this import never ends.
import pytest
from table import print_table  # type: ignore[import-not-found]

from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials, SparkMethod
from dbt.adapters.spark_clickhouse.spark.session import default_settings

SDIST = Path(__file__).with_name("dbt-spark-sdist.txt")
CACHE = Path(__file__).parents[2] / "target" / "dbt-spark"

DELTA = "It needs Delta Lake, which has no release for this Spark."
DATABRICKS = "It needs Databricks."
NO_GRANTS = "Spark's own catalog has no users and no grants."
OTHER_TYPES = "The names of types are those of another connection."
NOT_IN_DBT = "dbt 1.11 has no `dbt seed --empty`."

RUN = pytest.StashKey[list[pytest.Item]]()
REASONS = pytest.StashKey[list[str]]()

# What dbt-spark fails too with its session method, by class or "class::test", with the reason.
LEFT_OUT = {
    "TestChangingSchemaSpark": DATABRICKS,
    "TestDateDiff": "The metastore has no room for a view that is so long.",
    "TestDeltaOnSchemaChange": DELTA,
    "TestDeltaStrategies::test_delta_strategies": DELTA,
    "TestIncrementalGrantsSpark": NO_GRANTS,
    "TestIncrementalPredicatesMergeSpark": DELTA,
    "TestInvalidGrantsSpark": NO_GRANTS,
    "TestMergeExcludeColumns": DELTA,
    "TestModelGrantsSpark": NO_GRANTS,
    "TestPersistDocsDeltaTable": DELTA,
    "TestPersistDocsDeltaView": DELTA,
    "TestPersistDocsMissingColumn": DELTA,
    "TestPredicatesMergeSpark": DELTA,
    "TestPySpark": DATABRICKS,
    "TestPythonIncrementalModelSpark": DATABRICKS,
    "TestPythonModelSpark": DATABRICKS,
    "TestQueryTimeout": "It needs a connection by PyHive.",
    "TestSeedGrantsSpark": NO_GRANTS,
    "TestSnapshotCheckColsSpark": DELTA,
    "TestSnapshotGrantsSpark": NO_GRANTS,
    "TestSnapshotTimestampSpark": DELTA,
    "TestSparkClonePossible": DELTA,
    "TestSparkConstraintQuotedColumn": DELTA,
    "TestSparkEmptySeedFlag::test_build_empty_with_seed": NOT_IN_DBT,
    "TestSparkEmptySeedFlag::test_seed_empty_creates_table_with_zero_rows": NOT_IN_DBT,
    "TestSparkEmptySeedFlag::test_seed_empty_preserves_column_types": NOT_IN_DBT,
    "TestSparkIncrementalConstraintsDdlEnforcement": DELTA,
    "TestSparkIncrementalConstraintsRollback": DELTA,
    "TestSparkModelConstraintsRuntimeEnforcement": DELTA,
    "TestSparkStoreTestFailuresWithDelta": DELTA,
    "TestSparkTableConstraintsDdlEnforcement": DELTA,
    "TestSparkTableConstraintsRollback": DELTA,
    "TestUniqueKeySpark": DELTA,
    **{
        f"TestSpark{kind}ConstraintsColumnsEqual{connection}::test__constraints_{test}": reason
        for connection in ("DatabricksHTTP", "Pyodbc")
        for kind in ("Incremental", "Table", "View")
        for test, reason in {
            "correct_column_data_types": DELTA,
            "wrong_column_data_types": OTHER_TYPES,
            "wrong_column_order": DELTA,
        }.items()
        if (kind, test) != ("View", "wrong_column_order")
    },
}


def main(arguments: list[str]) -> int:
    """Run the tests. Return pytest's exit code."""
    command = [sys.executable, "-m", "pytest", "tests/functional", "--profile", "embedded"]
    command += ["-p", Path(__file__).stem, "-o", "addopts=", *arguments]
    environment = {
        **os.environ,
        "DBT_DATABRICKS_HOST_NAME": "",  # Their conftest reads it for every profile.
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
        "PYTHONPATH": str(Path(__file__).parent),
    }
    return subprocess.run(command, cwd=_unpacked(), env=environment, check=False).returncode


def _unpacked() -> Path:
    """The folder of the source distribution, which is downloaded if missing."""
    if not list(CACHE.glob("*.tar.gz")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        pip += ["--no-binary", ":all:", "--no-build-isolation", "--require-hashes"]
        subprocess.run([*pip, "-r", SDIST, "--dest", CACHE], check=True)
    (archive,) = CACHE.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(CACHE, filter="data")
    return CACHE / archive.name.removesuffix(".tar.gz")


def pytest_load_initial_conftests() -> None:
    """Make their conftest use our profile."""
    from tests.functional import fixtures  # type: ignore[import-not-found]

    fixtures.dbt_profile_target = dbt_profile_target


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stock", action="store_true", help="run what is left out through dbt-spark")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {item: reason for item in items if (reason := _reason_to_leave_out(item))}
    if config.getoption("--stock"):
        items[:] = left_out
        for item, reason in left_out.items():
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        config.stash[REASONS] = []
    else:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))
        config.stash[REASONS] = list(left_out.values())
    config.stash[RUN] = list(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What was run and how it went, and what was left out and why."""
    adapter = "dbt-spark" if config.getoption("--stock") else "dbt-spark-clickhouse"
    title = f"dbt-spark's own tests, through {adapter}"
    print_table(terminalreporter, title, config.stash[RUN], config.stash[REASONS])


def _reason_to_leave_out(item: pytest.Item) -> str | None:
    assert isinstance(item, pytest.Function)
    assert item.cls
    name = item.cls.__name__
    return LEFT_OUT.get(name) or LEFT_OUT.get(f"{name}::{item.originalname}")


@pytest.fixture(scope="session")
def dbt_profile_target(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, Any]:
    home = str(tmp_path_factory.mktemp("home"))
    if not request.config.getoption("--stock"):
        return {"type": "spark_clickhouse", "database": "spark", "home": home, "threads": 4}
    session = SparkMethod.SESSION
    settings = default_settings(EmbeddedSparkCredentials(method=session, host="localhost", schema="", home=home))
    profile = {"type": "spark", "method": "session", "host": "localhost", "threads": 4}
    return {**profile, "server_side_parameters": settings}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
