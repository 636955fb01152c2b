"""Runs that are killed, with their Spark, at a statement or a file operation; the next run completes them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import dying_dbt, dying_files, shop
from tests.support.shop import REPOSITORY

LINES = 10  # per step: each step lands a file of numbers, and a batch of events

MODELS = {
    # Several files each, so that a run can die between two of them.
    "spark/replaced": "select /*+ repartition(3) */ cast(value as int) as id from {{ source('landing', 'numbers') }}",
    "spark/appended": """
        {{ config(materialized='incremental') }}
        select /*+ repartition(3) */ cast(value as int) as id from {{ source('landing', 'numbers') }}
        {% if is_incremental() %}
        where cast(value as int) > (select coalesce(max(id), -1) from {{ this }})
        {% endif %}
    """,
    # Each step replaces the last ten rows, and adds ten.
    "spark/by_ten": """
        {{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['ten']) }}
        select /*+ repartition(3) */ cast(value as int) as id, cast(value as int) div 10 as ten
        from {{ source('landing', 'numbers') }}
        {% if is_incremental() %}
        where cast(value as int) div 10 >= (select coalesce(max(ten), 0) from {{ this }})
        {% endif %}
    """,
    "spark/overwritten": """
        {{ config(materialized='incremental', incremental_strategy='insert_overwrite') }}
        select /*+ repartition(3) */ cast(value as int) as id from {{ source('landing', 'numbers') }}
    """,
    "spark/stg_events": """
        {{ config(materialized='view') }}
        {{ parse_upserts(
            source('landing', 'events'),
            key=['id'],
            columns={'id': 'bigint', 'name': 'string'},
            version='_batch',
        ) }}
    """,
    "spark/events_changes": """
        {{ config(materialized='change_set') }}
        {{ one_change_per_key(ref('stg_events'), key=['id']) }}
    """,
    "clickhouse/events": """
        {{ config(materialized='versioned_collapsing', unique_key='id') }}
        select * from {{ ref('events_changes') }}
    """,
    "clickhouse/numbers": " union all ".join(
        f"select '{table}' as table_name, toInt64(id) as id from {{{{ ref('{table}') }}}}"
        for table in ("replaced", "appended", "by_ten", "overwritten")
    ),
}
SOURCES = ("numbers", "events")
TABLES = ("replaced", "appended", "by_ten", "overwritten")
QUERIES = {
    **{table: f"select id from shop.{table} order by id" for table in TABLES},
    "seeded": "select id from shop.seeded order by id",
    "tables": "show tables in shop",
}


@dataclass(frozen=True)
class Point:
    """Where a run dies: before or after an operation, given by its kind and its number among the matching ones. Without
    a kind, it does not die."""

    kind: str = ""
    number: int = 0
    is_after: bool = False
    pattern: str = ".*"
    what: str = ""


class DyingProject:
    """A project with every kind of Spark table, and its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.steps = 0
        for name, sql in MODELS.items():
            self._write(f"models/{name}.sql", sql)
        self._write("seeds/seeded.csv", "id\n" + "".join(f"{i}\n" for i in range(LINES)))
        sources = [
            {"name": table, "external": {"location": str(folder / "landing" / table), "file_format": "text"}}
            for table in SOURCES
        ]
        self._write(
            "models/sources.yml", json.dumps({"sources": [{"name": "landing", "database": "spark", "tables": sources}]})
        )
        engine = {"+materialized": "table", "+database": "spark"}
        project = {
            "name": "versioned_collapsing",
            "profile": "it",
            "macro-paths": [str(REPOSITORY / "macros"), str(REPOSITORY / "tests" / "generic")],
            "models": {"versioned_collapsing": {"spark": engine, "clickhouse": {**engine, "+database": "clickhouse"}}},
            "seeds": {"versioned_collapsing": {"+database": "spark"}},
            "flags": {"send_anonymous_usage_stats": False},
        }
        self._write("dbt_project.yml", json.dumps(project))
        spark = {
            "method": "session",
            "server_side_parameters": {
                "spark.driver.memory": "1g",
                "spark.sql.shuffle.partitions": "2",
                **dying_files.settings(folder / "java", sys.executable),
            },
        }
        output = {"type": "spark_clickhouse", "schema": "shop", "threads": 1, "home": str(self.home), "spark": spark}
        self._write("profiles.yml", json.dumps({"it": {"target": "it", "outputs": {"it": output}}}))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _step(self, death: Point) -> dict[str, Any]:
        self.steps += 1
        numbers = range((self.steps - 1) * LINES, self.steps * LINES)
        landing = self.folder / "landing"
        events = (json.dumps({"id": i, "name": f"name {i}"}) for i in numbers)
        return {
            "command": ["build"],
            "land": {
                f"{landing}/numbers/{self.steps}.txt": "".join(f"{i}\n" for i in numbers),
                f"{landing}/events/batch={self.steps:06d}/a.json": "".join(f"{event}\n" for event in events),
            },
            "death": asdict(death),
            "queries": {} if death.kind else QUERIES,
            "folder": str(self.home / "undo"),
        }

    def run(self, *deaths: Point) -> list[dict[str, Any]]:
        """Build in one process, each time with one more file and batch."""
        plan, seen = self.folder / "plan.json", self.folder / "seen.json"
        seen.write_text("[]")
        plan.write_text(json.dumps([self._step(death) for death in deaths]))
        process = subprocess.run(
            # dbt imports every module on sys.path whose name looks like a plugin's.
            [sys.executable, "-P", dying_dbt.__file__, str(plan), str(seen)],
            cwd=self.folder,
            env={**os.environ, "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"},
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=300,
            check=False,
        )
        assert process.returncode == (-9 if deaths[-1].number else 0), process.stdout[-3000:] + process.stderr[-3000:]
        outcomes: list[dict[str, Any]] = json.loads(seen.read_text())
        return outcomes

    def check(self, outcome: dict[str, Any], steps: int) -> None:
        """Every table holds each number of the steps exactly once, on Spark and on ClickHouse."""
        assert outcome["success"], (outcome["exception"], outcome["messages"])
        numbers = [[i] for i in range(steps * LINES)]
        for table in TABLES:
            assert outcome["rows"][table] == numbers, table
        assert outcome["rows"]["seeded"] == numbers[:LINES]
        assert outcome["files"] == [], "notes of how to undo what has ended"

    def check_clickhouse(self) -> None:
        """The rows of ClickHouse are those of all steps."""
        numbers = [(i,) for i in range(self.steps * LINES)]
        with shop.clickhouse(self.home) as client:
            assert shop.query(client, "select id from shop.events final where _sign = 1 order by id") == numbers
            for table in TABLES:
                assert (
                    shop.query(client, f"select id from shop.numbers where table_name = '{table}' order by id")
                    == numbers
                )


def points(operations: dict[str, list[str]]) -> list[Point]:
    """Every point at which a run with these operations can die."""
    return [
        Point(kind, number, is_after, what=what)
        for kind, seen in operations.items()
        for number, what in enumerate(seen, 1)
        for is_after in ((False,) if kind == "python" else (False, True))
    ]


# Points where something is half done; --spark-deaths kills at all others.
CHOSEN = {
    "the first change set is written and not registered": Point("file", 1, True, "create .*/events_changes/_SUCCESS"),
    "an append is half in its place": Point("file", 2, True, "rename .*/appended/part-.*[.]parquet"),
    "a batch manifest is unregistered and not deleted": Point("file", 1, False, "delete .*/events_changes__manifest.*"),
}


# Points of a run after one that has ended: it fills the tables of that one again.
REFILLED = {
    "both tables are emptied": Point("file", 1, False, "create .*/events_changes__stg_events/.*[.]parquet"),
    "the change set is emptied, and its manifest is new": Point(
        "file", 1, False, "create .*/events_changes/.*[.]parquet"
    ),
    "the change set is in place and not refreshed": Point(
        "file", 1, True, "rename .*/events_changes/part-.*[.]parquet"
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> DyingProject:
    return DyingProject(tmp_path_factory.mktemp("deaths"))


def test_next_runs_complete_those_that_died(request: pytest.FixtureRequest, project: DyingProject) -> None:
    for point in CHOSEN.values():
        project.run(point)
    for point in REFILLED.values():
        completed, *_ = project.run(Point(), point)
        project.check(completed, project.steps - 1)
    if count := request.config.getoption("--spark-deaths"):
        completed, recorded = project.run(Point(), Point("none"))
        project.check(completed, project.steps - 1)
        every = points(recorded["operations"])
        for point in every[:: max(1, len(every) // count)][:count]:
            completed, *_ = project.run(Point(), point)
            project.check(completed, project.steps - 1)
            print(f"{point} of {len(every)}", flush=True)  # noqa: T201
    # A table whose files are gone is rebuilt.
    shutil.rmtree(project.home / "warehouse" / "shop.db" / "replaced")
    (completed,) = project.run(Point())
    project.check(completed, project.steps)
    project.check_clickhouse()
