"""One project on the real engines, taken through its life once; the tests look at what it did.

Starting Spark takes about ten seconds, so every fixture here is a step that many tests share. Each step depends on the
previous one, because only one process at a time can use the embedded stores.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

DAYS = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04")
BUILD = ("build", "--exclude", "tag:broken", *DAYS)
ENDS_WITHIN = 240  # seconds; no command takes a minute, unless the machine is very busy

# Runs several dbt commands in one process, and so on one Spark.
_RUN_ALL = """
import json, sys
from dbt.cli.main import dbtRunner
for command in json.loads(sys.argv[1]):
    print("\\x1d", flush=True)
    outcome = dbtRunner().invoke(command)
    results = getattr(outcome.result, "results", None) or []
    found = [(r.node.unique_id, r.status, r.message) for r in results if hasattr(r, "node")]
    print("\\x1e" + json.dumps([outcome.success, found]), flush=True)
"""

_QUERY_ALL = """
import json, sys
from chdb.session import Session
session = Session(sys.argv[1])
session.query("set output_format_json_quote_decimals = 1")
for sql in json.loads(sys.argv[2]):
    rows = str(session.query(sql, "JSONEachRow")).splitlines()
    print(json.dumps([json.loads(row) for row in rows]))
"""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a dbt command: ``results`` has status and message of each node, by name."""

    success: bool
    output: str
    results: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, success: bool, output: str, results: list[tuple[str, str, str]]) -> Outcome:
        return cls(success, output, {_name(unique_id): (status, message) for unique_id, status, message in results})

    def failures(self) -> dict[str, str]:
        """The message of each node that failed."""
        return {
            name: message
            for name, (status, message) in self.results.items()
            if status not in ("success", "pass", "no-op")
        }


def _name(unique_id: str) -> str:
    kind, _, *names = unique_id.split(".")
    return names[-1] if kind == "unit_test" else names[0]


@dataclass(frozen=True)
class Project:
    """A copy of the project, with its stores."""

    root: Path
    home: Path

    @property
    def spark_log(self) -> Path:
        return self.home / "logs" / "spark.log"

    def spark_table(self, name: str, schema: str = "mixed") -> Path:
        """The folder of a Spark table."""
        return self.home / "warehouse" / f"{schema}.db" / name

    def environment(self, **changes: str) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("DBT_")}
        return {
            **own,
            "SPARK_CLICKHOUSE_HOME": str(self.home),
            "DBT_PROJECT_DIR": str(self.root),
            "DBT_PROFILES_DIR": str(self.root),
            "TZ": "Asia/Kolkata",  # The machine's time zone must not matter.
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1",  # More compilation does not pay off in short runs.
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "NO_COLOR": "1",
            **changes,
        }

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start a dbt command in a process group of its own."""
        return subprocess.Popen(
            [str(Path(sys.executable).with_name("dbt")), "--no-use-colors", *arguments],
            cwd=self.root.parent,
            env=self.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def dbt(self, *arguments: str, **environment: str) -> Outcome:
        """Run a dbt command."""
        written = self.root / "target" / "run_results.json"
        written.unlink(missing_ok=True)
        process = self.start(*arguments, **environment)
        output = finish(process)
        results = json.loads(written.read_text())["results"] if written.exists() else []
        return Outcome.of(
            process.returncode == 0,
            output,
            [(result["unique_id"], result["status"], result["message"]) for result in results],
        )

    def dbt_without_java(self, *arguments: str) -> Outcome:
        """Run a dbt command that would fail if it started Spark."""
        return self.dbt(*arguments, JAVA_HOME="/nowhere")

    def dbt_in_one_process(self, *commands: tuple[str, ...]) -> list[Outcome]:
        """Run dbt commands one after another on the same Spark."""
        finished = subprocess.run(
            [sys.executable, "-c", _RUN_ALL, json.dumps([["--no-use-colors", *command] for command in commands])],
            cwd=self.root.parent,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=ENDS_WITHIN,
            check=True,
        )
        outcomes = []
        for part in finished.stdout.split("\x1d\n")[1:]:
            output, _, rest = part.partition("\x1e")
            success, results = json.loads(rest.splitlines()[0])
            outcomes.append(Outcome.of(success, output, results))
        return outcomes

    def clickhouse(self, *statements: str) -> list[list[dict[str, Any]]]:
        """The rows of each statement, read by chDB without dbt."""
        finished = subprocess.run(
            [sys.executable, "-c", _QUERY_ALL, str(self.home / "clickhouse"), json.dumps(statements)],
            env=self.environment(),
            stdout=subprocess.PIPE,
            text=True,
            timeout=ENDS_WITHIN,
            check=True,
        )
        return [json.loads(line) for line in finished.stdout.splitlines()]


def finish(process: subprocess.Popen[str]) -> str:
    """Wait until ``process`` ends. Return what it printed."""
    try:
        return process.communicate(timeout=ENDS_WITHIN)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail(f"The command does not end:\n{process.communicate()[0]}")


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until ``condition`` holds, which must happen before ``process`` ends."""
    deadline = time.monotonic() + ENDS_WITHIN
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            process.send_signal(signal.SIGKILL)
            pytest.fail(f"The command did not get so far:\n{process.communicate()[0]}")
        time.sleep(0.1)


def _pause(project: Project, milliseconds: int) -> None:
    (project.root / "landing" / "pause" / "milliseconds.txt").write_text(str(milliseconds))


def _has_written_files(project: Project) -> bool:
    return any(project.spark_table("spark_slow").glob("_temporary/0/task*/*.parquet"))


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A fresh copy of the project with its landing zone."""
    folder = tmp_path_factory.mktemp("mixed")
    root = folder / "project"
    shutil.copytree(Path(__file__).parent / "project", root)
    for table in ("lines", "pause", "readings"):
        (root / "landing" / table).mkdir(parents=True)
    (root / "landing" / "lines" / "a.txt").write_text("one\ntwo\n")
    pq.write_table(
        pa.table(
            {
                "sensor": pa.array([1, 2, None], pa.int32()),
                "reading": pa.array([0.5, None, 2.5], pa.float64()),
                "country": pa.array(["AT", "XX", None], pa.string()),
                "happened_at": pa.array([1, 2, 3], pa.timestamp("us", "UTC")),
            }
        ),
        root / "landing" / "readings" / "part-0.parquet",
    )
    return Project(root, folder / "home")


@dataclass(frozen=True)
class Killed:
    """A killed Spark run, what it left, and what another run said meanwhile."""

    pid: int
    remains: list[Path]
    refused: Outcome


@pytest.fixture(scope="session")
def killed(project: Project) -> Killed:
    """A Spark run that is killed, together with its JVM, while it writes a table."""
    _pause(project, 1000)
    process = project.start("run", "--select", "spark_slow")
    wait_until(lambda: _has_written_files(project), process)
    refused = project.dbt("run", "--select", "ch_runs", "--target", "impatient")
    os.killpg(process.pid, signal.SIGKILL)
    finish(process)
    remains = [path for path in project.spark_table("spark_slow").rglob("*") if path.is_file()]
    _pause(project, 0)
    return Killed(process.pid, remains, refused)


@pytest.fixture(scope="session")
def first_build(project: Project, killed: Killed) -> Outcome:
    """The first build of everything, except for what the killed run left."""
    outcome = project.dbt(*BUILD)
    state = project.root / "state"
    state.mkdir()
    shutil.copy(project.root / "target" / "manifest.json", state)
    return outcome


@dataclass(frozen=True)
class Later:
    """Commands after the first build, in one process."""

    build: Outcome
    spark_reads_clickhouse: Outcome
    show_on_spark: Outcome
    operation: Outcome
    compile: Outcome
    docs: Outcome
    docs_of_some: Outcome
    debug: Outcome
    show_spark_model: Outcome
    show_clickhouse_model: Outcome
    listing: Outcome
    freshness: Outcome
    find: Outcome
    comments: Outcome
    failing_tests: Outcome
    refused: Outcome
    snapshot_on_spark: Outcome
    compile_blindly: Outcome
    catalog: dict[str, Any]
    catalog_of_some: dict[str, Any]
    loaded_at: dict[str, str]
    compiled: dict[str, str]
    compiled_blindly: dict[str, str]


@pytest.fixture(scope="session")
def later(project: Project, first_build: Outcome) -> Later:
    """Build everything again, and run all commands that need Spark."""
    target = project.root / "target"
    some = target / "some"
    inline = "select '{{ target.type }}' as engine, run from {{ ref('spark_runs') }}"
    selection = ("--select", "ch_orders", "spark_orders")
    breaking = ("breaks_contract", "breaks_constraint", "grants")
    refused = ["ch_python", *(f"{engine}_{name}" for engine in ("ch", "spark") for name in breaking)]
    commands = {
        "build": BUILD,
        "spark_reads_clickhouse": ("run", "--select", "spark_reads_clickhouse"),
        "show_on_spark": ("show", "--inline", inline),
        "operation": ("run-operation", "count_on_both_engines"),
        "compile": ("compile", "--exclude", "tag:broken"),
        "docs": ("docs", "generate", "--exclude", "tag:broken"),
        "docs_of_some": ("docs", "generate", *selection, "--target-path", str(some)),
        "debug": ("debug",),
        "show_spark_model": ("show", "--select", "spark_events"),
        "show_clickhouse_model": ("show", "--select", "ch_events"),
        "listing": ("ls", "--output", "json", "--select", "+exposure:report"),
        "freshness": ("source", "freshness"),
        "find": ("run-operation", "find_on_both_engines"),
        "comments": ("run-operation", "show_comments_of_spark"),
        "failing_tests": ("test", "--select", "fails_on_*", "--store-failures"),
        "refused": ("run", "--select", *refused),
        "snapshot_on_spark": ("snapshot", "--select", "spark_snapshot"),
        "compile_blindly": (
            *("compile", "--exclude", "tag:broken", "--no-introspect"),
            *("--target-path", str(target / "blind")),
        ),
    }
    outcomes: dict[str, Any] = dict(zip(commands, project.dbt_in_one_process(*commands.values()), strict=True))
    sources = json.loads((target / "sources.json").read_text())["results"]
    return Later(
        **outcomes,
        catalog=json.loads((target / "catalog.json").read_text()),
        catalog_of_some=json.loads((some / "catalog.json").read_text()),
        loaded_at={source["unique_id"]: source["max_loaded_at"] for source in sources},
        compiled=_compiled(target),
        compiled_blindly=_compiled(target / "blind"),
    )


def _compiled(target: Path) -> dict[str, str]:
    """The compiled SQL of each node except unit tests, by name."""
    paths = (target / "compiled" / "mixed").rglob("*.sql")
    return {path.stem: path.read_text() for path in paths if path.is_file() and "unit_tests.yml" not in path.parts}


QUERIES = {
    "commands": "select command, stage from mixed.commands",
    "clickhouse_failures": "select order_id from dbt_test__audit.fails_on_clickhouse order by 1",
    "countries": "select name from system.tables where name = 'countries'",
    "events": "select id, note from mixed.ch_events order by id",
    "events_by_day": "select id, happened_at from mixed.ch_events_by_day order by id",
    "events_snapshot": ("select id, dbt_valid_from, dbt_valid_to from mixed.ch_events_snapshot order by id"),
    "failures": "select name from system.tables where database = 'failures'",
    "folders": "select folder from mixed.ch_folders order by folder",
    "hooks": "select model, orders from mixed.clickhouse_hooks",
    "lines": "select line from mixed.ch_lines order by line",
    "measurements": ("select * except ratio, toString(ratio) as ratio from mixed.ch_measurements order by id"),
    "nothing": "select * from mixed.ch_nothing",
    "nothing_columns": "select name, type from system.columns where table = 'ch_nothing'",
    "orders": "select * from mixed.ch_orders order by order_id",
    "orders_by_country": (
        "select country, sum(orders) as orders from mixed.ch_orders_by_country group by country order by country"
    ),
    "orders_partition": "select partition_key from system.tables where name = 'ch_orders'",
    "partitioned": "select * from mixed.ch_partitioned order by id",
    "readings": "select * from mixed.ch_readings order by sensor nulls last",
    "revenue": "select * from mixed.ch_revenue order by name",
    "runs": "select * from mixed.ch_runs order by run",
    "snapshot": "select count() as orders from mixed.ch_orders_snapshot",
    "spark_in_clickhouse": "select name from system.tables where name like '%spark%'",
    "twin": "select * from mixed.twin",
    "types": "select * replace (hex(a_binary) as a_binary) from mixed.ch_types order by id",
    "types_columns": "select name, type from system.columns where table = 'ch_types'",
}


@pytest.fixture(scope="session")
def tables(project: Project, later: Later) -> dict[str, list[dict[str, Any]]]:
    """What ClickHouse holds after both builds: the rows of each of ``QUERIES``."""
    return dict(zip(QUERIES, project.clickhouse(*QUERIES.values()), strict=True))


@dataclass(frozen=True)
class Elsewhere:
    """Commands on another target, whose schema is empty at first, and what they left there."""

    sample: Outcome
    empty: Outcome
    fail: Outcome
    repair: Outcome
    retry: Outcome
    fail_fast: Outcome
    defer: Outcome
    clone: Outcome
    clone_on_spark: Outcome
    refresh: Outcome
    modified: Outcome
    clean: Outcome
    tables: dict[str, list[dict[str, Any]]]


ELSEWHERE = {
    "events": "select id from elsewhere.ch_events",
    "events_by_day": "select id from elsewhere.ch_events_by_day",
    "after_failures": "select id from elsewhere.ch_after_failures",
    "folders": "select folder from elsewhere.ch_folders order by folder",
    "orders": "select count() as orders from elsewhere.ch_orders",
    "revenue": "select name from elsewhere.ch_revenue order by name",
    "runs": "select run from elsewhere.ch_runs",
    "twin": "select package_on, parent_on from elsewhere.twin",
}


@pytest.fixture(scope="session")
def elsewhere(project: Project, tables: dict[str, Any]) -> Elsewhere:
    """Commands that write to another schema, or compare with an earlier state."""
    for name in ("spark_nothing", "ch_nothing"):
        (model,) = (project.root / "models").rglob(f"{name}.sql")
        model.write_text(f"-- As before.\n{model.read_text()}")
    target = ("--target", "elsewhere")
    state = ("--state", str(project.root / "state"))
    second_day = ("--sample", "{'start': '2024-01-02', 'end': '2024-01-03'}")
    aside = ("--target-path", "target/operation")  # `retry` looks for the last command in `target`
    commands = {
        "sample": (
            *("build", *target, *second_day),
            *("--select", "ch_events", "ch_notes", "spark_events", "spark_runs"),
        ),
        "empty": ("run", *target, "--empty", "--select", "ch_events_by_day", "spark_lines", *DAYS),
        "fail": ("run", *target, "--select", "*_fails_once", "ch_after_failures"),
        "repair": ("run-operation", "repair_both_engines", *target, *aside),
        "retry": ("retry", *target),
        "fail_fast": (*("run", *target, "--fail-fast"), *("--select", "ch_endless", "spark_reads_clickhouse")),
        "defer": (
            *("build", *target, "--defer", *state, "--exclude", "tag:broken"),
            *("--select", "ch_folders", "ch_orders"),
        ),
        "clone": ("clone", *target, *state, "--select", "ch_revenue", "ch_runs", "ch_twin"),
        "clone_on_spark": ("clone", *target, *state, "--select", "spark_types"),
        "refresh": ("run", *target, "--full-refresh", "--select", "ch_runs", "spark_runs"),
        "modified": ("ls", *target, *state, "--select", "state:modified"),
        "clean": ("clean", *target),
    }
    outcomes: dict[str, Any] = dict(zip(commands, project.dbt_in_one_process(*commands.values()), strict=True))
    rows = project.clickhouse(*ELSEWHERE.values())
    return Elsewhere(**outcomes, tables=dict(zip(ELSEWHERE, rows, strict=True)))


@dataclass(frozen=True)
class WithoutJava:
    """Commands that need only ClickHouse, and whether Spark's log stayed unchanged."""

    run: Outcome
    show: Outcome
    spark_was_started: bool


@pytest.fixture(scope="session")
def without_java(project: Project, tables: dict[str, Any]) -> WithoutJava:
    """Build only ClickHouse nodes, where no Java can be found."""
    before = project.spark_log.stat()
    run = project.dbt_without_java("run", "--select", "ch_runs", "ch_orders", "ch_revenue")
    show = project.dbt_without_java(
        *("show", "--output", "json", "--inline"),
        "select '{{ target.type }}' as engine, orders.order_id, countries.name "
        "from {{ ref('ch_orders') }} as orders "
        "inner join {{ ref('countries') }} as countries on orders.country = countries.code "
        "where orders.order_id = 1",
    )
    after = project.spark_log.stat()
    return WithoutJava(run, show, (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns))


@pytest.fixture(scope="session")
def refused_hand_offs(project: Project, without_java: WithoutJava) -> Outcome:
    """ClickHouse nodes that each read a Spark node that they cannot or must not read."""
    (removed,) = project.spark_table("spark_removed").glob("*-00000-*.parquet")
    removed.unlink()
    (truncated,) = project.spark_table("spark_truncated").glob("*-00000-*.parquet")
    truncated.write_bytes(truncated.read_bytes()[:-1])
    (doubled,) = project.spark_table("spark_doubled").glob("*-00000-*.parquet")
    shutil.copy(doubled, doubled.with_name("part-twice.parquet"))
    receipt = project.spark_table("spark_miscounted") / "_hand_off.json"
    content = json.loads(receipt.read_text())
    receipt.write_text(json.dumps(content | {"rows": content["rows"] + 1}))
    return project.dbt_without_java("run", "--select", "reads_*")


@dataclass(frozen=True)
class Interrupted:
    """A run that was interrupted as by Ctrl-C, and how many seconds it took to end."""

    outcome: str
    seconds: float


@pytest.fixture(scope="session")
def interrupted(project: Project, refused_hand_offs: Outcome) -> Iterator[Interrupted]:
    """A run that is interrupted while both engines are at work."""
    _pause(project, 60_000)
    # Background jobs of a shell, and their children, ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = project.start("run", "--select", "spark_slow", "ch_endless")
    wait_until((project.spark_table("spark_slow") / "_temporary").is_dir, process)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    yield Interrupted(finish(process), time.monotonic() - begun)
    _pause(project, 0)
