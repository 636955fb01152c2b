"""What test files cost: the measure, and the message for files that cost more than recorded."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import conftest
from tests.support.budget import cpu_seconds, overrun

RECORD = {"work": 0.1, "old.py": 60.0, "same.py": 30.0}


@pytest.mark.parametrize(
    ("costs", "work", "grown"),
    [
        ({"old.py": 60, "same.py": 30}, 0.1, []),
        ({"old.py": 85, "same.py": 30}, 0.1, []),  # less than a third more
        ({"old.py": 95, "same.py": 30}, 0.1, ["old.py: 95, recorded 60"]),
        ({"old.py": 60, "same.py": 30, "new.py": 40}, 0.1, ["new.py: 40, recorded 0"]),
        ({"old.py": 120, "same.py": 60}, 0.2, []),  # a machine that is half as fast
        ({"same.py": 50}, 0.1, ["same.py: 50, recorded 30"]),  # a tier that does not run all files
    ],
)
def test_a_third_more_than_is_recorded_is_too_much(costs: dict[str, float], work: float, grown: list[str]) -> None:
    assert [line.strip() for line in overrun(costs, RECORD, work)[1:]] == grown


def test_nothing_is_said_before_anything_is_recorded() -> None:
    assert overrun({"old.py": 60}, {}, 0.1) == overrun({"old.py": 60}, {"old.py": 1}, 0.1) == []


def test_processes_below_are_counted_while_they_run_and_when_they_have_ended() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    begin = cpu_seconds()
    command = [sys.executable, "-c", burn]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        assert cpu_seconds() - begin >= 0.25
        process.communicate("\n")
    assert cpu_seconds() - begin >= 0.25


def test_what_is_left_to_test_all_is_there() -> None:
    root = Path(conftest.__file__).parent
    for place in (*conftest.ALL, *conftest.SAMPLED):
        path, _, test = place.partition("::")
        assert (root / path).exists(), place
        name = test.partition("[")[0].rpartition("::")[2]
        assert not test or re.search(rf"(def|class) {name}", (root / path).read_text()), place
