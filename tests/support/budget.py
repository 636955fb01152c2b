"""What each test file costs, compared with a recorded cost.

The measure is CPU seconds of a pytest-xdist worker and all its child processes, Java included: seconds on the clock
would depend on what else the machine does. They are scaled by the cost of a fixed piece of work on this machine, so
that a record from one machine holds on another. Orphaned processes are not counted.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[1] / "durations.json"
ALLOWED = 4 / 3
SHOWN = 15
# The complete runs, which are compared, by their marks: `make test`, and what `make test-all` adds to it.
TIERS = {"not all": "make test", "all": "make test-all"}
_CPU = "cpu_seconds"
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """The CPU seconds of this process and its descendants, including those that have ended."""
    return sum(os.times()[:4]) + sum(map(_cpu_of, _below(os.getpid())))


def _below(process: int) -> Iterator[int]:
    """The descendants of a process."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from _below(child)


def _cpu_of(process: int) -> float:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / _TICKS


def cost_of_fixed_work() -> float:
    """CPU seconds of a fixed piece of work, about a tenth of a second: the least of five trials."""
    costs = []
    for _ in range(5):
        begin = time.thread_time()
        sum(len(str(number)) for number in range(500_000))
        costs.append(time.thread_time() - begin)
    return min(costs)


def tier_of(config: pytest.Config) -> str:
    """The command whose tests are exactly those that are chosen; empty for any other selection."""
    is_whole = config.args_source == pytest.Config.ArgsSource.TESTPATHS and not config.getoption("keyword")
    return TIERS.get(config.getoption("markexpr"), "") if is_whole else ""


def read_record(tier: str) -> dict[str, float]:
    """The recorded cost of each file in a tier, by path, and ``work``: what the fixed work cost on that machine. Empty
    if the tier has not been recorded, or is none."""
    record: dict[str, dict[str, float]] = json.loads(RECORD.read_text())
    return record.get(tier, {})


def overrun(costs: Mapping[str, float], record: Mapping[str, float], work: float) -> list[str]:
    """The message if the files cost more, in total, than the record allows; else empty.

    Args:
        costs: of each file that ran.
        record: as read_record returns it.
        work: what the fixed work costs here.
    """
    if "work" not in record:
        return []
    scale = work / record["work"]
    allowed = {path: record.get(path, 0) * scale for path in costs}
    budget, total = sum(allowed.values()), sum(costs.values())
    if total <= budget * ALLOWED:
        return []
    grown = sorted(costs, key=lambda path: allowed[path] - costs[path])
    return [
        f"These tests took {total:.0f} CPU seconds, and {budget:.0f} are recorded. Make them cheaper, mark some in ALL "
        f"of conftest.py, or record what they take: RECORD=yes",
        *(
            f"  {path}: {costs[path]:.0f}, recorded {allowed[path]:.0f}"
            for path in grown[:SHOWN]
            if costs[path] > allowed[path]
        ),
    ]


@dataclass(eq=False)
class Budget:
    """The pytest plugin."""

    config: pytest.Config
    costs: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tier: str = field(init=False)
    _before: float = 0

    def __post_init__(self) -> None:
        self.tier = tier_of(self.config)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._before = cpu_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add to each report what that step of the test cost."""
        report = yield
        now = cpu_seconds()
        report.user_properties = [(_CPU, max(now - self._before, 0.0))]
        self._before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.costs[report.nodeid.partition("::")[0]] += sum(
            found for name, found in report.user_properties if name == _CPU and isinstance(found, float)
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.is_worker or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        if self.tier and self.config.getoption("--record-durations"):
            costs = {path: round(cost, 1) for path, cost in sorted(self.costs.items())}
            found = {tier: read_record(tier) for tier in TIERS.values()}
            found[self.tier] = {"work": round(cost_of_fixed_work(), 4), **costs}
            RECORD.write_text(json.dumps(found, indent=2) + "\n")
        elif self.overrun:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self.costs) < 2:
            return
        terminalreporter.section("what the files cost, in CPU seconds")
        for path, cost in sorted(self.costs.items(), key=lambda item: -item[1])[:SHOWN]:
            terminalreporter.line(f"{cost:7.1f} {path}")
        terminalreporter.line(f"{sum(self.costs.values()):7.1f} in all{f', of {self.tier}' if self.tier else ''}")
        for line in self.overrun:
            terminalreporter.line(line, red=True)

    @cached_property
    def overrun(self) -> list[str]:
        """The message if the tests that ran cost too much."""
        return overrun(self.costs, read_record(self.tier), cost_of_fixed_work()) if self.tier else []

    @property
    def is_worker(self) -> bool:
        """Whether this is a pytest-xdist worker, which reports to another process."""
        return hasattr(self.config, "workerinput")
