"""The line on a terminal that shows what Spark is doing."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.spark_clickhouse.private_api import StageAtWork
from dbt.adapters.spark_clickhouse.spark.progress import line, terminal_for

STAGES = [StageAtWork(number=7, tasks=8, done=0, rows=0), StageAtWork(number=3, tasks=8, done=2, rows=1_234_567)]
WHOLE = "Spark [=====               ] stage 3: 2 of 8 tasks, 1,234,567 rows, and 1 more"


@pytest.mark.parametrize(("columns", "expected"), [(200, WHOLE), (40, WHOLE[:39])])
def test_the_stage_that_is_at_work_for_longest_is_shown(columns: int, expected: str) -> None:
    assert line(STAGES, columns) == expected


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("arguments", "term", "is_shown"),
    [
        ({}, "xterm", True),
        ({"QUIET": True}, "xterm", False),
        ({"LOG_FORMAT": "json"}, "xterm", False),
        ({}, "dumb", False),
    ],
)
def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any], term: str, is_shown: bool
) -> None:
    config = SimpleNamespace(args=SimpleNamespace(**arguments))
    monkeypatch.setenv("TERM", term)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert (terminal_for(config) is terminal) is is_shown
    monkeypatch.setattr("sys.stdout", io.StringIO())  # a pipe
    assert terminal_for(config) is None
