"""The resident run: a command line that dbt does not understand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.cli.exceptions import DbtUsageException

from dbt.adapters.spark_clickhouse import follow


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
    follower = follow.Follower(
        follow.Options.of(["--evry", "5", "--project-dir", str(tmp_path)]), follow.Stopper()
    )
    if said_by == "run":
        monkeypatch.setattr(follower, "read_project", lambda: True)
        monkeypatch.setattr(follower, "manifest_of_run", lambda: None)
    assert follower.follow() == follow.MISUSED
    assert "No such option '--evry'." in capfd.readouterr().out
