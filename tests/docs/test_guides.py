"""Guides, followed literally: their files are written, and their statements and commands are run in order.

- A block is a file if the text before it names one, see tests/support/page.py.
- `sql`: statements. The comment after a statement is its answer. A select with Jinja is shown by `dbt show`.
- `sh`: commands. A command with the comment `exit code 1` fails, and no other does.
- `text`: lines that the preceding commands or select print. `…` stands for what differs from run to run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.chdb_http import running_server
from tests.support.collapsing_project import CollapsingProject
from tests.support.collapsing_projects import MakeProject, collapsing_projects
from tests.support.page import assert_answers, blocks, is_said
from tests.support.shop import REPOSITORY

# A section of a page, with which the others begin.
START = (REPOSITORY / "docs/your_project.md").read_text().split("\n## With dbt-clickhouse alone\n")[1].split("\n## ")[0]
QUERYING = "docs/querying.md"
# A section of that page, on which other pages build.
VIEWS = (REPOSITORY / QUERYING).read_text().split("\n## Views\n")[1].split("\n## ")[0]
OPERATING = "docs/operating.md"
# A page, and the pages on which it builds.
GUIDES = {
    QUERYING: [START],
    "docs/history.md": [START],
    "docs/deletes_and_partial_changes.md": [START],
    "docs/how_a_run_works.md": [START, VIEWS],
    "docs/scaling.md": [START, VIEWS],
    OPERATING: [START, VIEWS],
}
CONFIG = """
<clickhouse>
  <query_log><database>system</database><table>query_log</table></query_log>
  <storage_configuration>
    <disks><backups><type>local</type><path>{path}/</path></backups></disks>
  </storage_configuration>
  <backups><allowed_disk>backups</allowed_disk></backups>
</clickhouse>
"""
FAILS = "# exit code 1"
# dbt's events that pages leave out: the lines that announce a model.
LEFT_OUT = ("LogStartLine", "Formatting")
# Blocks that are not followed, by how they begin, and the test that reads them.
NOT_FOLLOWED = {
    "# packages.yml": "tests/end_to_end/test_package.py",
    "# profiles.yml": "the server of these tests",
    "pip install": "test_what_is_installed_is_there",
    "semantic_models:": "tests/invariants/test_semantic_models.py",
    "scrape_configs:": "assert_prometheus_gets_figures",
    "dbt-spark-clickhouse follow": "tests/docs/test_your_project.py",
    "20:37:01  orders batch 5": "plugins/dbt-spark-clickhouse/tests/unit/test_watched.py",
    '{"_message"': "tests/end_to_end/test_responses.py",
    '{"op"': "tests/change_sets/test_dialects.py, with other lines",
    "lines              = ": "tests/support/balance.py",
    "<clickhouse>": "CONFIG",
    "  landing/orders: 11 rows removed": "tests/end_to_end/test_forget.py",
    "seconds = ": "a formula, which benchmarks/results/growth.md has beside the measurements",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A ClickHouse that logs queries and can write backups."""
    folder = tmp_path_factory.mktemp("clickhouse")
    config = folder / "config.xml"
    config.write_text(CONFIG.format(path=folder / "backups"))
    with running_server(folder / "data", config=str(config)) as address:
        yield address


@pytest.fixture(scope="module")
def make_project(address: tuple[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeProject]:
    with collapsing_projects(address, tmp_path_factory.mktemp) as make:
        yield make


@pytest.fixture
def project(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> CollapsingProject:
    """The project `shop`, without models or tables."""
    monkeypatch.setenv("VERSIONED_COLLAPSING_SECRET", "what-a-page-exports-is-not-set-here")
    project = make_project("shop")
    for database in ("shop", "landing"):
        project.client.command(f"drop database if exists {database} sync")
    project.client.command("create database shop")
    project.client.database = "shop"
    return project


def follow(project: CollapsingProject, page: str) -> None:
    """Do what a page says, block by block."""
    said = ""
    for block in blocks(page):
        if block.text.startswith(tuple(NOT_FOLLOWED)):
            continue
        if block.path:
            path = project.folder / block.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        elif block.language == "sh":
            said = "\n".join(run(project, line) for line in block.text.splitlines())
        elif block.language == "text":
            assert is_said(block.text, said), f"{block.text} is not in\n{said}"
        elif "{{" in block.text:
            said = run(project, shlex.join(["dbt", "show", "--inline", block.text]))
        else:
            assert block.language == "sql", block.text
            if "system.query_log" in block.text and not has_query_log(project):
                continue
            assert_answers(project.client, block.text if ";" in block.text else f"{block.text.strip()};\n")


def has_query_log(project: CollapsingProject) -> bool:
    """ClickHouse creates the table with its first rows; chDB 26.7 never does."""
    project.client.command("system flush logs query_log")
    is_there = bool(project.client.command("exists table system.query_log"))
    assert is_there or str(project.client.server_version).startswith("26.7.")
    return is_there


def run(project: CollapsingProject, line: str) -> str:
    """The output of a command. It must fail if, and only if, the page says so."""
    program, *arguments = shlex.split(line, comments=True)
    if program != "dbt" or ">" in arguments:
        return run_in_shell(project, line)
    project.dbt(*arguments)
    infos = [event.info for event in project.events if event.info.level != "debug" and event.info.name not in LEFT_OUT]
    said = "\n".join(info.msg for info in infos)
    assert any(info.level == "error" for info in infos) == line.endswith(FAILS), f"{line}\n{said}"
    return said


def run_in_shell(project: CollapsingProject, line: str) -> str:
    """The output of a command other than a plain dbt command."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=project.folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("page", GUIDES)
def test_guide(address: tuple[str, int], project: CollapsingProject, page: str) -> None:
    for before in GUIDES[page]:
        follow(project, before)
    follow(project, page)
    if page == OPERATING:
        assert_prometheus_gets_figures(address)


def test_what_reads_the_other_blocks_is_there() -> None:
    files = [reader for reader in NOT_FOLLOWED.values() if reader.endswith(".py")]
    assert [file for file in files if not (REPOSITORY / file).exists()] == []


def test_what_is_installed_is_there() -> None:
    (line,) = (block.text for block in blocks(OPERATING) if block.text.startswith("pip "))
    found = re.fullmatch(r"pip install '\.\./versioned_collapsing/(.+)\[(\w+)\]'\n", line)
    assert found is not None, line
    path, extra = found.groups()
    assert f"\n{extra} = [" in (REPOSITORY / path / "pyproject.toml").read_text()


def assert_prometheus_gets_figures(address: tuple[str, int]) -> None:
    (text,) = (block.text for block in blocks(OPERATING) if block.text.startswith("scrape_configs"))
    (job,) = yaml.safe_load(text)["scrape_configs"]
    (given,) = job["params"].pop("query")
    source = re.fullmatch("<the text of (.+)>", given)
    assert source is not None, given
    query = {**job["params"], "query": [(REPOSITORY / source[1]).read_text()]}
    host, port = address
    url = f"http://{host}:{port}{job['metrics_path']}?{urllib.parse.urlencode(query, doseq=True)}"
    with urllib.request.urlopen(url) as answer:
        figures = answer.read().decode()
    assert re.search(r'states_total\{database="shop",model="orders"\} [1-9]', figures)
