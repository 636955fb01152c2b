"""What a resident run watches."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dbt.adapters.spark_clickhouse.cli.follow import Follower, Options, Stopper, _in_one_line
from dbt.adapters.spark_clickhouse.landing.watched import LandingZones, ProjectFolders

BATCHES = {1: 200_000, 2: 180, 3: 36}  # and how many seconds ago they landed


def source(location: str | None) -> Any:
    return SimpleNamespace(external=SimpleNamespace(location=location) if location else None)


def test_landing_zones_are_those_of_the_sources(tmp_path: Path) -> None:
    locations = ["landing/orders", f"{tmp_path}/other", "s3a://bucket/items", None]
    manifest = SimpleNamespace(sources={str(each): source(each) for each in locations})
    zones = LandingZones.of(manifest, tmp_path)
    assert set(zones.folders) == {tmp_path / "landing" / "orders", tmp_path / "other"}
    assert zones.others == ("s3a://bucket/items",)
    assert zones.batches() == {}
    assert str(zones) == ", ".join([*(os.path.relpath(folder) for folder in zones.folders), "s3a://bucket/items"])
    assert str(LandingZones((), tuple("abcdefg"))) == "a, b, c, d, e and 2 more"
    folder = tmp_path / "landing" / "orders"
    (folder / "batch=1").mkdir(parents=True)
    (folder / ".batch=2").mkdir()
    before = zones.batches()
    assert list(before) == [str(folder / "batch=1")]
    os.utime(folder / "batch=1", ns=(1, 1))
    assert zones.batches() != before


def test_bytes_are_those_that_have_landed_since(tmp_path: Path) -> None:
    zones = LandingZones.of(SimpleNamespace(sources={"orders": source("landing")}), tmp_path)
    assert zones.bytes_since(0) == 0
    for batch, size in enumerate((5, 7, 11), 1):
        folder = tmp_path / "landing" / f"batch={batch}"
        folder.mkdir(parents=True)
        (folder / "lines.json").write_text("x" * size)
        os.utime(folder, ns=(batch, batch))
    assert [zones.bytes_since(begin) for begin in (0, 2, 3, 4)] == [23, 18, 11, 0]


def test_a_project_is_what_dbt_has_read_and_not_what_it_writes(tmp_path: Path) -> None:
    def parsed(folder: str, root: Path = tmp_path) -> Any:
        return SimpleNamespace(path=SimpleNamespace(project_root=str(root), searched_path=folder))

    for name in ("models/a/x.sql", "models/.y.sql", "compiled/x.sql", "dbt_project.yml", "notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    manifest = SimpleNamespace(files={"1": parsed("models"), "2": parsed("macros", Path("/other"))})
    folders = ProjectFolders.of(manifest, tmp_path)
    found = folders.files()
    assert set(found) == {str(tmp_path / "models/a/x.sql"), str(tmp_path / "dbt_project.yml")}
    (tmp_path / "models" / "new.py").touch()
    assert folders.files() != found


def test_options_of_dbt_are_passed_on(tmp_path: Path) -> None:
    options = Options.of(["--select", "+orders", "--once", "--project-dir", str(tmp_path)])
    assert options.dbt == ("--select", "+orders", "--project-dir", str(tmp_path))
    assert options.once
    assert not options.until_idle


@pytest.mark.parametrize("option", ["--full-refresh", "-f"])
def test_no_table_is_rebuilt_again_and_again(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Options.of([option])
    assert "--full-refresh would rebuild all tables each time. Use dbt run." in capsys.readouterr().err


def test_a_project_may_have_models_that_are_disabled(tmp_path: Path) -> None:
    profile = {"type": "spark_clickhouse", "database": "clickhouse", "schema": "shop"}
    files = {
        "profiles.yml": json.dumps({"shop": {"target": "it", "outputs": {"it": profile}}}),
        "dbt_project.yml": json.dumps({"name": "shop", "profile": "shop"}),
        "models/off.sql": "{{ config(enabled=false) }} select 1 as one",
        "models/on.sql": "select 1 as one",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    options = Options.of(["--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path)])
    follower = Follower(options, Stopper())
    assert follower.read_project()
    assert set(follower.manifest_of_run().nodes) == {"model.shop.on"}


def test_lines_of_a_resident_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = Options.of(["--health-file", str(tmp_path / "none" / "health.json")])
    follower = Follower(options, Stopper())
    follower._tell("idle")
    follower.stopper._ask(signal.SIGTERM, None)
    printed = capfd.readouterr().out
    assert "The health file cannot be written: [Errno 2]" in printed
    assert "SIGTERM: ending after this run. Again: ending at once" in printed


def test_the_line_of_a_run_that_failed() -> None:
    outcome = SimpleNamespace(success=False, result=None, exception=ValueError("no\nprofile"))
    line = _in_one_line(cast(Any, outcome), 1.25, {}, {})
    assert line == "Failed after 1.2 s: no profile"


def test_the_age_is_that_of_the_batches_that_were_applied() -> None:
    now = time.time_ns()
    landed = {f"landing/orders/batch=00000{number}": now - age * 10**9 for number, age in BATCHES.items()}

    def line(*batches: int) -> str:
        config = SimpleNamespace(materialized="versioned_collapsing")
        result = SimpleNamespace(
            node=SimpleNamespace(name="orders", config=config),
            status="success",
            message="1 state" if batches else "nothing to change",
            adapter_response={"batches": list(batches)},
        )
        outcome = SimpleNamespace(success=True, result=SimpleNamespace(results=[result]))
        return _in_one_line(cast(Any, outcome), 1.25, landed, landed)

    assert re.fullmatch(r"orders 1 state \| 1\.2 s \| landed 36\.\d s ago", line(3))
    assert re.fullmatch(r"orders 1 state \| 1\.2 s \| landed 180\.\d s ago", line(2, 3))
    assert line() == "nothing to change | 1.2 s"


def test_a_project_that_changes_is_parsed_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    follower = Follower(Options.of(["--project-dir", str(tmp_path)]), Stopper())
    follower._manifest = SimpleNamespace()
    follower._project = cast(Any, SimpleNamespace(files=lambda: {"models/orders.sql": 1}))
    assert not follower.read_project()  # there is no project
    assert "The project has changed" in capfd.readouterr().out
