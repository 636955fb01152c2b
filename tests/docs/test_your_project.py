"""docs/your_project.md, followed word by word: its files are written and its commands are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dbt.adapters.spark_clickhouse.start import main as start
from tests.support.commands import run_all
from tests.support.page import Block, blocks
from tests.support.shop import REPOSITORY

CLONE = "../versioned_collapsing"


def _steps() -> list[Block]:
    return [
        replace(block, text=block.text.replace(CLONE, str(REPOSITORY)))
        for block in blocks("docs/your_project.md")
    ]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each block of commands said."""
    folder = tmp_path_factory.mktemp("devices")
    outputs = []
    for step in _steps():
        if step.path:
            path = folder / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
        elif step.language == "python":
            outputs.append(_run(folder, step.text))
        elif not step.text.startswith(("pip ", "python -m ")):
            outputs.append(_run_dbt(folder, step.text))
    return outputs


def _run_dbt(folder: Path, commands: str) -> str:
    # In one process, so that Spark starts once for a block.
    parsed = [shlex.split(line) for line in commands.splitlines()]
    assert all(words[0] == "dbt" for words in parsed), commands
    arguments = [["--no-use-colors", *words[1:]] for words in parsed]
    outcomes = run_all(arguments, folder, _environment())
    for outcome in outcomes:
        assert outcome.success, (outcome.exception, outcome.output[-4000:])
    return "".join(outcome.output for outcome in outcomes)


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name != "SPARK_CLICKHOUSE_HOME"}


def _run(folder: Path, program: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-4000:] + process.stderr[-4000:]
    return process.stdout


def test_the_package_that_it_installs_is_there() -> None:
    (line,) = (step.text for step in _steps() if step.text.startswith("pip "))
    found = re.fullmatch(r"pip install '(.+)\[(\w+)\]'\n", line)
    assert found is not None, line
    path, extra = found.groups()
    assert f"\n{extra} = [" in (Path(path) / "pyproject.toml").read_text()


def test_the_command_that_writes_it_takes_the_batch_of_the_page(tmp_path: Path) -> None:
    (line,) = (step.text for step in _steps() if step.text.startswith("python -m "))
    batch = next(step for step in _steps() if step.language == "json")
    path = tmp_path / batch.path
    path.parent.mkdir(parents=True)
    path.write_text(batch.text)
    command = shlex.split(line.replace("\\\n", " "))[3:]
    assert start([*command, "--project-dir", str(tmp_path)]) == 0
    assert (tmp_path / "models" / "devices" / "stg_devices.sql").exists()


def test_a_project_of_ones_own_runs_as_the_page_says(said: list[str]) -> None:
    _, first, second, look, python = said
    assert "batch 1: 2 states" in first
    assert "batch 2: 2 states, 2 cancels, 1 delete" in second
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in look.splitlines()]
    assert ["1.1", "2", "1.05"] in rows
    assert ["1", "3", "battery does not ..."] in rows  # dbt shortens it
    assert "2 live rows of 6 stored" in look
    assert python.strip().strip('"') == "2"
