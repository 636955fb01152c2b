"""Projects that pages of the documentation build, followed literally, each in a folder of its own.

- A block is a file if the text before it names one, see tests/support/page.py.
- `sh`: commands of dbt, or the resident run. What pip and the starter would do has tests of its own.
- `text`: lines that the preceding commands print, in any place. `…` stands for what differs from run to run.
- `python`: a program. `sql`: statements for the ClickHouse server; the comment after a statement is its answer.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client

from dbt.adapters.spark_clickhouse.cli.start import main as start
from tests.support.chdb_http import running_server
from tests.support.commands import run_all
from tests.support.page import Block, assert_answers, blocks, is_said
from tests.support.shop import REPOSITORY, query

YOUR_PROJECT = "docs/your_project.md"
DEBEZIUM = "docs/debezium.md"
PAGES = (YOUR_PROJECT, DEBEZIUM)
# The section of a page that these tests follow; tests/docs/test_guides.py follows the other one.
SECTION = "\n## With Spark and ClickHouse\n"
CLONE = "../versioned_collapsing"
PORT = "port: 8123"
STARTER = "dbt-spark-clickhouse start "
FOLLOW = "dbt-spark-clickhouse follow "
COMMAND = "from dbt.adapters.spark_clickhouse.cli import main; raise SystemExit(main())"
NOT_RUN = ("pip ", STARTER)
# dbt's prefix of each line, and the lines that announce a node, which pages leave out.
_TIME = re.compile(r"^\d\d:\d\d:\d\d +", re.MULTILINE)
_BEGINS = re.compile(r"^\d+ of \d+ START .*\n", re.MULTILINE)


def _steps(page: str) -> list[Block]:
    text = (REPOSITORY / page).read_text().split(SECTION)[-1]
    return [replace(block, text=block.text.replace(CLONE, str(REPOSITORY))) for block in blocks(text)]


@dataclass(frozen=True)
class Project:
    """What a page has built: its folder, and the output of each block of commands and each program."""

    folder: Path
    client: Client
    port: int
    said: list[str] = field(default_factory=list)

    def follow(self, page: str) -> None:
        """Do what a page says, block by block. Spark starts once for blocks of dbt's commands, and files between them."""
        steps = [step for step in _steps(page) if not step.text.startswith(NOT_RUN)]
        for is_dbts, several in groupby(steps, lambda step: step.language == "text" or _is_of_dbt(step)):
            for step in (*several,) if not is_dbts else ():
                if step.language == "sql":
                    assert_answers(self.client, step.text)
                elif step.language == "python":
                    self.said.append(self._run("-c", step.text))
                else:
                    # Without an option that ends it, it would run for ever.
                    assert step.text.startswith(FOLLOW), step
                    _, *command = shlex.split(step.text)
                    self.said.append(self._run("-c", COMMAND, *command, "--until-idle"))
            if is_dbts:
                self._run_dbt([*several])

    def _run_dbt(self, steps: list[Block]) -> None:
        commands: list[Sequence[str]] = []
        for step in steps:
            if step.path:
                text = step.text.replace(PORT, f"port: {self.port}")
                commands.append(["write", str(self.folder / step.path), text])
            elif step.language == "sh":
                parsed = [shlex.split(line) for line in step.text.splitlines()]
                assert all(words[0] == "dbt" for words in parsed), step.text
                commands += (["--no-use-colors", *words[1:]] for words in parsed)
        outcomes = iter(run_all(commands, self.folder, _environment()) if commands else ())
        for step in steps:
            if step.language == "text":
                for line in step.text.splitlines():
                    assert is_said(line, self.said[-1]), f"{line} is not in\n{self.said[-1]}"
            elif not step.path:
                found = [next(outcomes) for _ in step.text.splitlines()]
                for outcome in found:
                    assert outcome.success, outcome.why()
                self.said.append(_plain("".join(outcome.output for outcome in found)))

    def _run(self, *arguments: str) -> str:
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stdout[-4000:] + process.stderr[-4000:]
        return _plain(process.stdout)


def _is_of_dbt(step: Block) -> bool:
    return bool(step.path) or (step.language == "sh" and step.text.startswith("dbt "))


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name != "SPARK_CLICKHOUSE_HOME"}


def _plain(output: str) -> str:
    return _BEGINS.sub("", _TIME.sub("", output))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty folder, and an empty ClickHouse server."""
    folder = tmp_path / "project"
    folder.mkdir()
    with (
        running_server(tmp_path / "server") as (host, port),
        clickhouse_connect.get_client(host=host, port=port) as client,
    ):
        yield Project(folder, client, port)


@pytest.mark.parametrize("page", PAGES)
def test_the_package_that_it_installs_is_there(page: str) -> None:
    (line,) = (step.text for step in _steps(page) if step.text.startswith("pip "))
    found = re.fullmatch(r"pip install -c (\S+) '(.+)\[(\w+)\]'\n", line)
    assert found is not None, line
    constraints, path, extra = found.groups()
    assert Path(constraints).is_file()
    assert f"\n{extra} = [" in (Path(path) / "pyproject.toml").read_text()


def test_the_command_that_writes_it_takes_the_batch_of_the_page(tmp_path: Path) -> None:
    line, _ = (step.text for step in _steps(YOUR_PROJECT) if step.text.startswith(STARTER))
    batch = next(step for step in _steps(YOUR_PROJECT) if step.language == "json")
    path = tmp_path / batch.path
    path.parent.mkdir(parents=True)
    path.write_text(batch.text)
    command = shlex.split(line.replace("\\\n", " "))[2:]
    assert start([*command, "--project-dir", str(tmp_path)]) == 0
    assert (tmp_path / "models" / "staging" / "stg_devices.sql").exists()


@pytest.mark.parametrize("page", PAGES)
def test_a_project_of_ones_own_runs_as_the_page_says(project: Project, page: str) -> None:
    project.follow(page)
    ASSERT_ON[page](project)


def _assert_on_devices(project: Project) -> None:
    _, first, second, look, python, _, refreshed = project.said
    assert "batch 1: 2 states" in first
    assert "batch 2: 2 states, 2 cancels, 1 delete" in second
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in look.splitlines()]
    assert ["1.1", "2", "1.05"] in rows
    assert ["1", "3", "battery does not ..."] in rows  # dbt truncates it
    assert "2 live rows of 6 stored" in look
    assert "WARN=1" in first  # the line in the quarantine
    assert "batches 1-3: 2 states" in refreshed
    assert python.strip().strip('"') == "2"


def _assert_on_orders(project: Project) -> None:
    live = "select order_id, region, toString(day), amount from shop.orders final where _sign = 1"
    assert query(project.client, f"{live} order by order_id") == [
        (1, "north", "2026-01-05", 25),
        (4, "west", "2026-01-06", 40),
        (5, "south", "2026-01-06", 30),
    ]
    sums = "select region, day, sum({}), sum({}) from shop.{} group by all having sum({}) <> 0 order by all"
    assert query(project.client, sums.format("revenue", "orders", "revenue", "orders")) == query(
        project.client, sums.format("amount * _sign", "_sign", "orders", "_sign")
    )
    lines = "select batch, line_number, raw_line from shop.quarantine final where _sign = 1"
    (broken,) = (text.splitlines()[3] for text in _texts(DEBEZIUM, "batch=000001/part-0.json"))
    assert query(project.client, lines) == [(1, 4, broken)]
    accounts = (
        "select batches.batch, lines, blank, quarantined, events, states, cancels, deletes, duplicates "
        "from shop.versioned_collapsing_ledger "
        "where model = 'orders' and status = 'applied' order by batches.batch"
    )
    assert query(project.client, accounts) == [
        ([1], 4, 0, 1, 3, 3, 0, 0, 0),
        ([2], 7, 2, 0, 5, 2, 3, 2, 1),
        ([3], 1, 0, 0, 1, 1, 0, 0, 0),
    ]
    assert _read(project, "health.json")["state"] == "ended"
    (exposure,) = _read(project, "target/manifest.json")["exposures"].values()
    assert set(exposure["depends_on"]["nodes"]) == {
        f"model.shop.{name}" for name in ("revenue", "orders", "quarantine")
    }
    assert "model.shop.orders" in _read(project, "target/catalog.json")["nodes"]


def _texts(page: str, path: str) -> list[str]:
    return [step.text for step in _steps(page) if step.path.endswith(path)]


def _read(project: Project, path: str) -> Any:
    return json.loads((project.folder / path).read_text())


# What the tables and files hold in the end.
ASSERT_ON = {YOUR_PROJECT: _assert_on_devices, DEBEZIUM: _assert_on_orders}
