"""One JVM serves the Sparks of many projects, and its stores are free for others when a command has ended."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow.parquet

from tests.support.commands import run_all, variables
from tests.support.warm_spark import WARM

NUMBERS = "{{ config(materialized='incremental') }}\nselect {{ var('number') }} as number"
LINES = "{{ config(materialized='table') }}\nselect value from text.`lines.txt`"


def _project(folder: Path) -> Path:
    (folder / "models").mkdir(parents=True)
    output = {"type": "spark_clickhouse", "schema": "warm", "home": str(folder / "home"), "database": "spark"}
    profile = {"warm": {"target": "it", "outputs": {"it": output}}}
    project = {"name": "warm", "profile": "warm", "flags": {"send_anonymous_usage_stats": False}}
    (folder / "profiles.yml").write_text(json.dumps(profile))
    (folder / "dbt_project.yml").write_text(json.dumps(project))
    (folder / "models" / "numbers.sql").write_text(NUMBERS)
    (folder / "models" / "lines.sql").write_text(LINES)
    (folder / "lines.txt").write_text(folder.name)
    return folder


def _build(project: Path, number: int, **environment: str) -> None:
    command = ["run", "--project-dir", str(project), "--profiles-dir", str(project), *variables(number=number)]
    (outcome,) = run_all([command], project, {**os.environ, **environment})
    assert outcome.success, (outcome.exception, outcome.nodes)


def _rows(project: Path, table: str) -> list[object]:
    files = sorted((project / "home" / "warehouse" / "warm.db" / table).glob("*.parquet"))
    return sorted(row for columns in pyarrow.parquet.read_table(files).to_pylist() for row in columns.values())


def test_projects_take_turns_in_it_and_with_another_jvm(tmp_path: Path) -> None:
    one, two = (_project(tmp_path / name) for name in ("one", "two"))
    _build(one, 1)
    warm = WARM.gateway(os.environ)
    _build(two, 2)
    _build(one, 3)
    _build(one, 4, TZ="Asia/Kolkata")
    _build(one, 5)
    assert WARM.gateway(os.environ) == warm
    assert _rows(one, "numbers") == [1, 3, 4, 5]
    assert _rows(two, "numbers") == [2]
    assert (_rows(one, "lines"), _rows(two, "lines")) == (["one"], ["two"])
