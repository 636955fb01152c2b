"""The resident run: arguments with which it can never succeed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.cli.exceptions import DbtUsageException
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.cli import follow


@pytest.mark.parametrize("said_by", ["parse", "run"])
def test_an_option_that_dbt_does_not_have_ends_it(
    said_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Runner:
        def __init__(self, manifest: Any = None) -> None:
            pass

        def invoke(self, _: list[str]) -> Any:
            refusal = DbtUsageException("No such option '--evry'.")
            return SimpleNamespace(success=False, exception=refusal, result=None)

    monkeypatch.setattr(follow, "dbtRunner", Runner)
    follower = follow.Follower(follow.Options.of(["--evry", "5", "--project-dir", str(tmp_path)]), follow.Stopper())
    if said_by == "run":
        monkeypatch.setattr(follower, "read_project", lambda: True)
        monkeypatch.setattr(follower, "manifest_of_run", lambda: None)
    assert follower.follow() == follow.MISUSED
    assert "No such option '--evry'." in capfd.readouterr().out


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_project_that_never_could_be_read_ends_it(
    has_begun: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopper = follow.Stopper()

    class Runner:
        def invoke(self, _: list[str]) -> Any:
            return SimpleNamespace(success=False, exception=DbtRuntimeError("!"), result=None)

    def wait(*_: Any) -> None:
        stopper.is_asked = True

    monkeypatch.setattr(follow, "dbtRunner", Runner)
    monkeypatch.setattr(stopper, "wait", wait)
    options = follow.Options.of(["--target", "nope", "--project-dir", str(tmp_path)])
    follower = follow.Follower(options, stopper, has_begun=has_begun)
    assert follower.follow() == (follow.FAILED if has_begun else follow.MISUSED)
    assert stopper.is_asked is has_begun


@pytest.mark.parametrize("is_once", [False, True])
def test_a_run_that_fails_is_told_of(is_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends a run that is not to wait. Others wait, until somebody ends them."""
    stopper = follow.Stopper()

    def wait(*_: Any) -> None:
        stopper.is_asked = True

    monkeypatch.setattr(stopper, "wait", wait)
    health = tmp_path / "health.json"
    options = follow.Options.of(
        [*(["--once"] if is_once else []), "--project-dir", str(tmp_path), "--health-file", str(health)]
    )
    follower = follow.Follower(options, stopper)
    monkeypatch.setattr(follower, "read_project", lambda: True)
    monkeypatch.setattr(follower, "_run", lambda _: False)
    assert follower.follow() == follow.FAILED
    assert stopper.is_asked is not is_once
    assert json.loads(health.read_text())["state"] == ("failing" if is_once else "ended")


@pytest.mark.parametrize(
    ("asked", "variables", "is_info"),
    [
        ([], {}, True),
        (["--log-level-file", "debug"], {}, False),
        (["--log-level=debug"], {}, False),
        ([], {"DBT_LOG_LEVEL_FILE": "none"}, False),
        ([], {"DBT_ENGINE_LOG_LEVEL": "error"}, False),
        ([], {"DBT_LOG_LEVEL_OF_MINE": "error"}, True),
    ],
)
def test_a_run_logs_no_statements_unless_somebody_sets_a_level(
    asked: list[str], variables: dict[str, str], is_info: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []

    class Runner:
        def __init__(self, manifest: Any) -> None:
            pass

        def invoke(self, arguments: list[str]) -> Any:
            given.append(arguments)
            return SimpleNamespace(success=True, exception=None, result=None)

    monkeypatch.setattr(follow, "dbtRunner", Runner)
    for name in [name for name in os.environ if "LOG_LEVEL" in name]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    options = follow.Options.of(["--once", "--project-dir", str(tmp_path), *asked])
    follower = follow.Follower(options, follow.Stopper())
    monkeypatch.setattr(follower, "read_project", lambda: True)
    monkeypatch.setattr(follower, "manifest_of_run", lambda: None)
    assert follower.follow() == 0
    assert ("info" in given[0]) is is_info


def test_a_run_after_another_says_since_when_batches_have_landed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first run, only the end of the last Spark is known. A changed project may read all again."""
    landed: list[dict[str, int]] = [{"batch=1": 5}, {"batch=1": 5, "batch=3": 9, "batch=2": 7}]
    done: list[dict[str, int] | None] = []
    begins: list[int] = []

    class Zones:
        others = ()

        def batches(self) -> dict[str, int]:
            return landed[min(len(done), 1)]

    class Runner:
        def __init__(self, manifest: Any) -> None:
            pass

        def invoke(self, _arguments: list[str]) -> Any:
            done.append(None)
            return SimpleNamespace(success=True, exception=None, result=None)

    monkeypatch.setattr(follow, "dbtRunner", Runner)
    monkeypatch.setattr(follow.spark_session, "expect_since", begins.append)
    options = follow.Options.of(["--until-idle", "--project-dir", str(tmp_path)])
    follower = follow.Follower(options, follow.Stopper())

    def read_project() -> bool:
        if len(done) == 2:
            follower._done = None
        return True

    monkeypatch.setattr(follower, "read_project", read_project)
    monkeypatch.setattr(follower, "manifest_of_run", lambda: None)
    monkeypatch.setattr(follower, "_zones", Zones(), raising=False)
    assert follower.follow() == 0
    assert (len(done), begins) == (3, [7, 5])


@pytest.mark.parametrize("option", ["--every", "--memory"])
def test_a_negative_number_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        follow.Options.of([option, "-3"])
    assert ended.value.code == follow.MISUSED
    assert "--every takes seconds and --memory MB, from 0." in capsys.readouterr().err
