"""Prints the result of a run: how much was run and how it went, and what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest


def print_table(
    terminalreporter: pytest.TerminalReporter, title: str, run: Sequence[pytest.Item], reasons: Iterable[str]
) -> None:
    """Print how the tests ``run`` went, and how many were left out for each of ``reasons``."""
    outcomes = _outcomes(terminalreporter, {item.nodeid for item in run})
    classes = len({item.getparent(pytest.Class) for item in run})
    terminalreporter.section(title)
    terminalreporter.line(f"{len(run):4} tests of {classes} classes: {outcomes}")
    left_out = Counter(reasons)
    if left_out:
        tests = left_out.total()
        terminalreporter.line(f"{tests:4} tests left out, which the stock adapter fails:")
    for reason, tests in left_out.most_common():
        terminalreporter.line(f"{tests:8}  {reason}")


def _outcomes(terminalreporter: pytest.TerminalReporter, tests: set[str]) -> str:
    found = {
        outcome: {report.nodeid for report in reports if report.nodeid in tests}
        for outcome, reports in terminalreporter.stats.items()
        if outcome in ("passed", "failed", "error", "skipped", "xfailed")
    }
    return ", ".join(f"{len(found[outcome])} {outcome}" for outcome in found if found[outcome])
