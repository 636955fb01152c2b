"""Tests on Spark that passed: of which Spark is not asked again, and what has it asked again."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dbt.adapters.spark_clickhouse.spark.passed_tests import MESSAGE
from tests.support.commands import Outcome, run_all

PROJECT = {
    "name": "passed",
    "profile": "passed",
    "models": {"passed": {"+database": "spark", "+materialized": "view"}},
    "flags": {"send_anonymous_usage_stats": False},
}
MODELS = {
    "lines.sql": "select cast(value as int) as n from {{ source('landing', 'lines') }}",
    "numbers.sql": "{{ config(materialized='table') }} select 1 as n",
}
SCHEMA = """
sources:
  - name: landing
    database: spark
    tables:
      - name: lines
        external: {location: landing, file_format: text}
unit_tests:
  - name: text_becomes_a_number
    model: lines
    given:
      - {input: "source('landing', 'lines')", format: sql, rows: "select '7' as value"}
    expect:
      rows: [{n: 7}]
  - name: text_becomes_another_number
    model: lines
    given:
      - {input: "source('landing', 'lines')", format: sql, rows: "select '7' as value"}
    expect:
      rows: [{n: 8}]
"""
# A test that names nothing of Spark's is ClickHouse's.
ON_SPARK = "-- depends on {{ ref('numbers') }}\n"
# What can be remembered, and what cannot: it fails, warns, or may end otherwise although nothing has changed.
REMEMBERED = {
    "lines_are_positive": "select * from {{ ref('lines') }} where n <= 0",
    "numbers_are_in_lines": "select * from {{ ref('numbers') }} where n not in (select n from {{ ref('lines') }})",
    "of_no_relation": ON_SPARK + "select 1 as n where 1 = {{ var('one', 2) }}",
}
NEVER = {
    "fails": "select * from {{ ref('numbers') }}",
    "warns": "{{ config(severity='warn') }} select * from {{ ref('numbers') }}",
    "asks_the_time": "select * from {{ ref('numbers') }} where current_timestamp() < timestamp '2000-01-01'",
    "asks_the_time_as_text": "select * from {{ ref('numbers') }} where timestamp 'now' < timestamp '2000-01-01'",
    "asks_chance": "select * from {{ ref('numbers') }} where rand() < 0",
    "asks_java": "select * from {{ ref('numbers') }} where reflect('java.lang.System', 'nanoTime') = '0'",
    "reads_some_files": ON_SPARK + "select * from text.`{{ env_var('LANDING') }}/*.txt` where value = '0'",
    "reads_a_view_of_the_session": ON_SPARK
    + "{% do run_query('create or replace temporary view own as select 1 as n') %}"
    "select * from own where n = 2",
}
BAD = {"fails", "text_becomes_another_number"}
SLOW = ON_SPARK + (
    "select sum(length(slept)) as slept from ("
    "select coalesce(reflect('java.lang.Thread', 'sleep', 5000L), '') as slept from range(0, 2, 1, 2))"
)
SPARED = re.compile(r"Spark was not asked: (\d+)")


def spared(outcome: Outcome) -> int:
    """Of how many tests Spark was not asked."""
    found = SPARED.search(outcome.output)
    return int(found[1]) if found else 0


def failed(outcome: Outcome) -> set[str]:
    return {name for name, node in outcome.nodes.items() if node.status in ("fail", "error")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("passed")
    output = {"type": "spark_clickhouse", "schema": "passed", "home": str(folder / "home"), "threads": 1}
    profiles = {"passed": {"target": "it", "outputs": {"it": output}}}
    files = {
        "dbt_project.yml": json.dumps(PROJECT),
        "profiles.yml": json.dumps(profiles),
        "models/schema.yml": SCHEMA,
        "landing/a.txt": "1\n2\n",
        "aside/bad.txt": "0\n",
        "aside/of_the_same_size.txt": "1\n0\n",
        **{f"models/{name}": sql for name, sql in MODELS.items()},
        **{f"tests/{name}.sql": sql for name, sql in (REMEMBERED | NEVER).items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "LANDING": str(folder / "landing")}


def test_spark_is_asked_again_when_anything_has_changed(folder: Path, environment: dict[str, str]) -> None:
    def move(name: str, other: str) -> tuple[str, ...]:
        return ("mv", str(folder / name), str(folder / other))

    everything = len(REMEMBERED) + 1  # and a unit test
    some = ("test", "--exclude", *NEVER, "text_becomes_another_number")
    build, again, other, same, landed, gone, edited, mended, rebuilt, after, fresh = run_all(
        [
            ("build", "--exclude", "text_becomes_another_number"),
            ("test",),
            (*some, "--vars", json.dumps({"one": 1})),
            some,
            move("aside/bad.txt", "landing/bad.txt"),
            some,
            move("landing/bad.txt", "aside/bad.txt"),
            some,
            move("landing/a.txt", "aside/a.txt"),
            move("aside/of_the_same_size.txt", "landing/a.txt"),
            some,
            move("aside/a.txt", "landing/a.txt"),
            some,
            ("run", "--select", "numbers"),
            some,
            ("build", "--full-refresh", *some[1:]),
        ],
        folder,
        environment,
        seconds=1200,
    )
    assert failed(build) == {"fails"}, build.output
    assert (failed(again), spared(again)) == (BAD, everything), again.output
    assert (failed(other), spared(other)) == ({"of_no_relation"}, 0)
    assert (failed(same), spared(same)) == (set(), everything)
    assert (failed(landed), spared(landed)) == ({"lines_are_positive"}, everything - 2)
    assert (failed(gone), spared(gone)) == (set(), everything - 2)
    assert (failed(edited), spared(edited)) == ({"lines_are_positive"}, everything - 2)
    assert (failed(mended), spared(mended)) == (set(), everything - 2)
    assert rebuilt.success
    assert (failed(after), spared(after)) == (set(), everything - 1)
    assert (failed(fresh), spared(fresh)) == (set(), 0)

    # Another process starts no Spark, and says so of each test.
    log = folder / "home" / "logs" / "spark.log"
    log.unlink()
    [outcome] = run_all([some], folder, environment, seconds=300)
    assert (failed(outcome), spared(outcome)) == (set(), everything)
    assert not log.exists()
    results = json.loads((folder / "target" / "run_results.json").read_text())["results"]
    assert len(results) == everything
    assert {result["adapter_response"]["_message"] for result in results} == {MESSAGE}

    # With other settings of Spark, nothing that passed counts.
    profiles = folder / "profiles.yml"
    setting = '"spark": {"server_side_parameters": {"spark.sql.shuffle.partitions": "4"}}, "schema"'
    profiles.write_text(profiles.read_text().replace('"schema"', setting))
    [outcome] = run_all([some], folder, environment, seconds=300)
    assert (failed(outcome), spared(outcome)) == (set(), 0)


def test_a_terminal_shows_what_spark_is_at_and_a_pipe_does_not(folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "dbt.cli.main", "show", "--inline", SLOW]
    master, slave = pty.openpty()
    with subprocess.Popen(
        command, cwd=folder, env={**environment, "TERM": "xterm"}, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal is closed with the process
            while part := os.read(master, 4096):
                shown += part
    os.close(master)
    assert process.returncode == 0, shown
    lines = re.findall(rb"\r\x1b\[K(Spark \[[ =]{20}\] stage \d+: \d of 2 tasks, \d+ rows)\r", shown)
    assert lines, shown
    assert shown.rindex(b"\r\x1b[K") > shown.rindex(lines[-1])  # it is wiped out
    piped = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert "Spark [" not in piped.stdout + piped.stderr
