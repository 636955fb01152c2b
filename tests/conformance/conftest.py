"""Runs dbt-tests-adapter through our adapter, or through the stock adapter of the engine.

Our adapter runs every class except those left out. The stock adapter runs those left out, to show that it fails them,
or every class with ``--stock=all``.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import clickhouse_connect
import pandas  # noqa: F401  # With the clock stopped (freezegun), this import never ends.
import pytest

from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials, SparkMethod
from dbt.adapters.spark_clickhouse.spark.session import default_settings
from tests.conformance.suite import reason_to_leave_out, shipped_folder, shipped_name, unknown_names
from tests.conformance.table import print_table
from tests.support.chdb_http import running_server

if TYPE_CHECKING:
    from dbt.tests.fixtures.project import TestProjInfo

pytest_plugins = ["dbt.tests.fixtures.project"]

# The classes of each of these folders differ in what dbt itself or the engine's own adapter makes of their options. The
# plugin passes all of them on in the same way, which these classes show.
SAMPLES = {
    "caching.": "BaseCachingSelectedSchemaOnly BaseNoPopulateCache",
    "constraints.": """
        BaseConstraintQuotedColumn BaseIncrementalConstraintsRollback BaseModelConstraintsRuntimeEnforcement
        BaseTableConstraintsColumnsEqual""",
    "dbt_debug.": "BaseDebugPostgres",
    "functions.": "PythonUDFNotSupported",
    "hooks.test_model_hooks.": """
        BaseHookRefs BaseHooksRefsOnSeeds BasePrePostModelHooks BasePrePostModelHooksOnSeeds
        BasePrePostModelHooksOnSnapshots""",
    "query_comment.": "BaseEmptyQueryComments BaseMacroQueryComments",
    "simple_seed.": "BaseBasicSeedTests BaseSeedCustomSchema BaseSeedSpecificFormats BaseSimpleSeedColumnOverride",
    "simple_snapshot.": "BaseSimpleSnapshot BaseSnapshotCheck",
    "store_test_failures_tests.": "BaseStoreTestFailures StoreTestFailuresAsProjectLevelView",
    "unit_testing.": "BaseUnitTestInvalidInput BaseUnitTestingTypes",
    "utils.": "BaseDateAdd BaseEquals BaseSplitPart",
}

RUN = pytest.StashKey[list[pytest.Item]]()
LEFT_OUT = pytest.StashKey[list[pytest.Item]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stock",
        nargs="?",
        choices=("left_out", "all"),
        const="left_out",
        help="run through the stock adapter what is left out, or all",
    )
    parser.addoption("--whole", action="store_true", help="run all classes, and not samples of their folders")


@pytest.hookimpl(trylast=True)  # After -k and similar options.
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for module in {_module(item) for item in items}:
        if unknown := unknown_names(module.LEFT_OUT, vars(module)):
            raise pytest.UsageError(f"LEFT_OUT names what is not there: {', '.join(unknown)}")
    stock = config.getoption("--stock")
    left_out = [item for item in items if _reason_to_leave_out(item)]
    config.stash[LEFT_OUT] = left_out
    if stock == "left_out":
        for item in left_out:
            item.add_marker(pytest.mark.xfail(reason=_reason_to_leave_out(item), strict=True))
        items[:] = left_out
    elif stock is None:
        ignored = [item for item in items if not config.getoption("--whole") and _is_one_of_many(item)]
        config.hook.pytest_deselected(items=[*left_out, *ignored])
        items[:] = [item for item in items if item not in left_out and item not in ignored]
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore"))  # The warnings are about dbt's own fixtures.
    config.stash[RUN] = list(items)


def _is_one_of_many(item: pytest.Item) -> bool:
    assert isinstance(item, pytest.Function)
    assert item.cls
    folder, _, name = f"{shipped_name(item.cls)}".rpartition(".")
    return any(f"{folder}.".startswith(of) and name not in taken.split() for of, taken in SAMPLES.items())


def _reason_to_leave_out(item: pytest.Item) -> str:
    assert isinstance(item, pytest.Function)
    assert item.cls
    return reason_to_leave_out(_module(item).LEFT_OUT, item.cls, item.name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """For each engine: what was run and how it went, and what was left out and why."""
    stock = config.getoption("--stock")
    for engine in sorted({_engine(item) for item in config.stash.get(RUN, [])}):
        adapter = f"dbt-{engine}" if stock else "dbt-spark-clickhouse"
        run = [item for item in config.stash[RUN] if _engine(item) == engine]
        left_out = [item for item in config.stash[LEFT_OUT] if _engine(item) == engine]
        reasons = [] if stock else map(_reason_to_leave_out, left_out)
        title = f"dbt-tests-adapter on {engine}, through {adapter}"
        print_table(terminalreporter, title, run, reasons)


def _engine(item: pytest.Item) -> str:
    return str(_module(item).ENGINE)


def _module(item: pytest.Item) -> ModuleType:
    assert isinstance(item, pytest.Function)
    module: ModuleType = item.module
    return module


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engines' folder, shared by all tests, because one Spark serves them all."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def stock_profiles(home: Path, request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    if not request.config.getoption("--stock"):
        yield {}
        return
    session = {"type": "spark", "method": "session", "host": "localhost"}
    credentials = EmbeddedSparkCredentials(method=SparkMethod.SESSION, host="localhost", schema="", home=str(home))
    spark = {**session, "server_side_parameters": default_settings(credentials)}
    with running_server(home / "clickhouse") as (host, port):
        clickhouse = {"type": "clickhouse", "driver": "http", "host": host, "port": port}
        yield {"spark": spark, "clickhouse": clickhouse}


@pytest.fixture(scope="session")
def open_chdb(home: Path) -> Iterator[None]:
    """Keep chDB open for all tests: it leaves threads behind each time it is closed."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TZ", "UTC")
        client = clickhouse_connect.get_client(interface="chdb", path=str(home / "clickhouse"))
    with closing(client):
        yield


@pytest.fixture(scope="class")
def dbt_profile_target(request: pytest.FixtureRequest, stock_profiles: dict[str, Any], home: Path) -> dict[str, Any]:
    engine = request.module.ENGINE
    if engine == "clickhouse" and not stock_profiles:
        request.getfixturevalue("open_chdb")
    ours = {"type": "spark_clickhouse", "database": engine, "home": str(home)}
    return {"threads": 4, **stock_profiles.get(engine, ours)}


@pytest.fixture(scope="class")
def profile_user() -> None:
    """Neither engine has a user here."""


@pytest.fixture(scope="class")
def unique_schema() -> str:
    return f"test_{time.time_ns() // 1000}_{random.randint(0, 9999):04}"


@pytest.fixture(scope="class")
def test_data_dir(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the data that the class has in dbt-tests-adapter, if any; some tests write there."""
    shipped = shipped_folder(request.cls) / "data"
    folder = tmp_path_factory.mktemp("test") / "data"
    return Path(shutil.copytree(shipped, folder)) if shipped.is_dir() else folder


@pytest.fixture(scope="class")
def project(project: TestProjInfo, request: pytest.FixtureRequest) -> TestProjInfo:
    project.test_dir = str(shipped_folder(request.cls))
    return project


@pytest.fixture(scope="class")
def in_its_sql() -> dict[str, str]:
    """What to replace in the files of a class's project, and by what in the engine's SQL."""
    return {}


@pytest.fixture(scope="class")
def project_files(
    project_files: None, project_root: Path, request: pytest.FixtureRequest, in_its_sql: dict[str, str]
) -> None:
    for path in Path(project_root).rglob("*.*"):
        text = path.read_text()
        for found, replacement in (request.module.POSTGRES_NAMES | in_its_sql).items():
            text = text.replace(found, replacement)
        path.write_text(text)


@pytest.fixture(scope="class")
def logs_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = str(tmp_path_factory.mktemp("logs"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DBT_LOG_PATH", folder)
        yield folder
